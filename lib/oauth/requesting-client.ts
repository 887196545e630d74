import type { AdapterPayload, ClientMetadata } from "oidc-provider";
import { isLoopback } from "@/lib/config/loopback";
import { readableName } from "@/lib/oauth/client-name";
import { nativeClient, unnamedClient } from "@/lib/oauth/clients";

/** Who asks to be let in: where the answer goes is proven, what it calls itself is not. */
export type RequestingClient = {
  clientId: string;
  /** Its own word, or that of the document at its host. */
  name: string | undefined;
  /** The host at which its metadata document was read. */
  documentHost: string | undefined;
  origin: ClientOrigin;
};

/** What gets the answer. A host is spelled as the URL standard does, an international one in punycode. */
export type ClientOrigin =
  | { is: "site"; host: string }
  /** A loopback address, which any program on the browser's own computer can listen at. */
  | { is: "program"; host: string }
  /** Whichever app has taken the scheme on the browser's own device. */
  | { is: "app"; scheme: string }
  /** Whoever has begun it, anywhere (RFC 8628 §5.4). */
  | { is: "device"; askedAtMs: number; network: string | undefined };

/** @param kept - what the authorization server keeps of a request, or of a device's code */
export function describeClient(
  { client_id, client_name = "" }: ClientMetadata,
  kept: AdapterPayload,
): RequestingClient {
  const isOurWord = client_id === nativeClient.client_id || client_name === unnamedClient;
  return {
    clientId: client_id,
    name: isOurWord ? undefined : readableName(client_name),
    documentHost: URL.canParse(client_id) ? new URL(client_id).host : undefined,
    origin: readOrigin(kept),
  };
}

function readOrigin({ params, iat = 0, deviceInfo }: AdapterPayload): ClientOrigin {
  const redirect = params?.redirect_uri;
  if (typeof redirect !== "string") {
    const network = deviceInfo?.network;
    return {
      is: "device",
      askedAtMs: iat * 1000,
      network: typeof network === "string" ? network : undefined,
    };
  }
  const { protocol, host, hostname } = new URL(redirect);
  if (isLoopback(hostname)) return { is: "program", host };
  return protocol === "https:" ? { is: "site", host } : { is: "app", scheme: protocol };
}

/** By which its owner knows the session of a client later: what it called itself, and the host where that is proven. */
export function nameSession({ name, origin }: RequestingClient): string {
  switch (origin.is) {
    case "site":
      return name ? `${name} (${origin.host})` : origin.host;
    case "program":
      return name ?? nativeClient.client_name;
    case "app":
      return name ?? `An app that opens ${origin.scheme}`;
    case "device":
      return name ?? "A device";
  }
}
