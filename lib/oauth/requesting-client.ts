import type { AdapterPayload, ClientMetadata } from "oidc-provider";
import { readableName } from "@/lib/auth/readable-name";
import { isLoopback } from "@/lib/config/loopback";
import { nativeClient, unnamedClient } from "@/lib/oauth/clients";

/** The client of an authorization request. Where the answer goes is verified; the client's name is not. */
export type RequestingClient = ReturnType<typeof describeClient>;

/** Where the answer goes. Hosts are in the spelling of the URL standard, international ones in punycode. */
export type ClientOrigin =
  | { is: "site"; host: string }
  /** A loopback address. Any program on the browser's computer can listen there. */
  | { is: "program"; host: string }
  /** The app that has registered the scheme on the browser's device. */
  | { is: "app"; scheme: string }
  /** A device that started the request, which can be anywhere (RFC 8628 §5.4). */
  | { is: "device"; requestedAtMs: number; network: string | undefined };

/** @param stored - the authorization server's payload of a request or a device code */
export function describeClient({ client_id, client_name = "" }: ClientMetadata, stored: AdapterPayload) {
  const isUnnamed = client_id === nativeClient.client_id || client_name === unnamedClient;
  return {
    clientId: client_id,
    /** The name that the client, or its metadata document, gives itself. */
    name: isUnnamed ? undefined : readableName(client_name),
    documentHost: URL.canParse(client_id) ? new URL(client_id).host : undefined,
    origin: readOrigin(stored),
  };
}

function readOrigin({ params, iat = 0, deviceInfo }: AdapterPayload): ClientOrigin {
  const redirect = params?.redirect_uri;
  if (typeof redirect !== "string") {
    const network = deviceInfo?.network;
    return {
      is: "device",
      requestedAtMs: iat * 1000,
      network: typeof network === "string" ? network : undefined,
    };
  }
  const { protocol, host, hostname } = new URL(redirect);
  if (isLoopback(hostname)) return { is: "program", host };
  return protocol === "https:" ? { is: "site", host } : { is: "app", scheme: protocol };
}

/** What is verified of a client, as its owner sees it later next to the name: where its answers go. */
export function describeOrigin(origin: ClientOrigin): string {
  switch (origin.is) {
    case "site":
      return origin.host;
    case "program":
      return "a program on a computer";
    case "app":
      return `an app that opens ${origin.scheme}`;
    case "device":
      return "a device";
  }
}

/** The session name that the owner sees later: the client's own, unverified words. */
export function nameSession({ name, origin }: RequestingClient): string {
  if (name !== undefined) return name;
  if (origin.is === "site") return origin.host;
  if (origin.is === "app") return `An app that opens ${origin.scheme}`;
  return origin.is === "program" ? nativeClient.client_name : "A device";
}
