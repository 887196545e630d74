import { createHash } from "node:crypto";
import * as client from "openid-client";
import type { Service } from "@/tests/support/service";

/** The redirect URI: any port of this computer. */
export const redirectUri = "http://127.0.0.1:51515/callback";

/** What an app proves a code with, where a test redeems it without a library. */
export const verifier = "v".repeat(43);

/** The path of an authorization request, where a test makes it without a library. */
export function authorizePath(client_id: string, redirect_uri: string, more: Record<string, string> = {}) {
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const asked = { client_id, redirect_uri, response_type: "code", code_challenge };
  return `/oauth/authorize?${new URLSearchParams({ ...asked, code_challenge_method: "S256", ...more })}`;
}

/** Redeems the code in the response to such a request. */
export function redeemCode(
  service: Service,
  client_id: string,
  redirect_uri: string,
  back: string,
  more: Record<string, string> = {},
  headers: Record<string, string> = {},
) {
  const code = new URL(back).searchParams.get("code") ?? "";
  const grant = { grant_type: "authorization_code", code, redirect_uri, code_verifier: verifier };
  return service.submit("/oauth/token", { client_id, ...grant, ...more }, { headers });
}

/** Registers a client from an address. */
export function register(service: Service, client: object | string, from: string) {
  const headers = { "content-type": "application/json" };
  const body = typeof client === "string" ? client : JSON.stringify(client);
  return service.ask("/oauth/register", { method: "POST", from, headers, body });
}

export type Tokens = {
  access_token: string;
  refresh_token?: string | undefined;
  expires_in?: number | undefined;
};

/** An app of the client `native`, which knows only our address. */
export type App = Awaited<ReturnType<typeof makeApp>>;

/** An app's authorization request: the URL to open, and a function that redeems the response. */
export type Request = Awaited<ReturnType<App["ask"]>>;

const scope = "account:read";
const state = "kept";
/**
 * Makes an app of the library that most programs use.
 *
 * @param algorithm - where it looks for the metadata: RFC 8414's path, or OpenID Connect's
 */
export async function makeApp({ url, port }: Service, algorithm: "oauth2" | "oidc" = "oauth2") {
  const config = await client.discovery(new URL(url), "native", undefined, client.None(), {
    algorithm,
    execute: [client.allowInsecureRequests],
    // The service listens on loopback, whatever its APP_URL is.
    [client.customFetch]: (address, options) =>
      fetch(address.replace(url, `http://127.0.0.1:${port}`), options as RequestInit),
  });
  return {
    async ask(more: Record<string, string> = {}) {
      const own = client.randomPKCECodeVerifier();
      const code_challenge = await client.calculatePKCECodeChallenge(own);
      const asked = { redirect_uri: redirectUri, scope, state, code_challenge };
      const resource: Record<string, string> = more.resource ? { resource: more.resource } : {};
      return {
        address: client.buildAuthorizationUrl(config, { ...asked, code_challenge_method: "S256", ...more }),
        redeem: (back: URL, pkceCodeVerifier = own): Promise<Tokens> =>
          client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState: state }, resource),
      };
    },
    /** A device's code, and a function that polls until the owner has answered. */
    async askByDevice() {
      const device = await client.initiateDeviceAuthorization(config, { scope });
      const poll = (): Promise<Tokens> =>
        client.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.1 });
      return { ...device, poll };
    },
    refresh: (token = ""): Promise<Tokens> => client.refreshTokenGrant(config, token),
    revoke: (token = "") => client.tokenRevocation(config, token),
  };
}
