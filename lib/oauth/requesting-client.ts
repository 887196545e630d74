import type { AdapterPayload, ClientMetadata } from "oidc-provider";
import { readableName } from "@/lib/auth/readable-name";
import { isLoopback } from "@/lib/config/loopback";
import { nativeClient, unnamedClient } from "@/lib/oauth/clients";

/** The client of an authorization request. Where the answer goes is verified; the client's name is not. */
export type RequestingClient = ReturnType<typeof describeClient>;

/** @param stored - the authorization server's payload of a request or a device code */
export function describeClient({ client_id, client_name = "" }: ClientMetadata, stored: AdapterPayload) {
  const isUnnamed = client_id === nativeClient.client_id || client_name === unnamedClient;
  /** The name that the client, or its metadata document, gives itself. */
  const name = isUnnamed ? undefined : readableName(client_name);
  const { origin, verified, unnamed } = readOrigin(stored);
  return {
    clientId: client_id,
    name,
    documentHost: URL.canParse(client_id) ? new URL(client_id).host : undefined,
    origin,
    /** What its owner sees later: its name, and what is verified of it. */
    session: { name: name ?? unnamed, origin: verified },
  };
}

/** Where the answer goes. Hosts are in the spelling of the URL standard, international ones in punycode. */
function readOrigin({ params, iat = 0, deviceInfo }: AdapterPayload) {
  const redirect = params?.redirect_uri;
  if (typeof redirect !== "string") {
    const network = typeof deviceInfo?.network === "string" ? deviceInfo.network : undefined;
    // To the device that started the request, which can be anywhere (RFC 8628 §5.4).
    const origin = { is: "device", requestedAtMs: iat * 1000, network } as const;
    return { origin, verified: "a device", unnamed: "A device" };
  }
  const { protocol, host, hostname } = new URL(redirect);
  if (isLoopback(hostname)) {
    // To any program on the browser's computer that listens there.
    const origin = { is: "program", host } as const;
    return { origin, verified: "a program on a computer", unnamed: nativeClient.client_name };
  }
  if (protocol === "https:") return { origin: { is: "site", host } as const, verified: host, unnamed: host };
  // To the app that has registered the scheme on the browser's device.
  const app = `app that opens ${protocol}`;
  return { origin: { is: "app", scheme: protocol } as const, verified: `an ${app}`, unnamed: `An ${app}` };
}
