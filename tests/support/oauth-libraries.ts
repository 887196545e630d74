import { createHash } from "node:crypto";
import * as bare from "oauth4webapi";
import * as complete from "openid-client";
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
export function redeemCode(service: Service, client_id: string, redirect_uri: string, back: string) {
  const code = new URL(back).searchParams.get("code") ?? "";
  const grant = { grant_type: "authorization_code", code, redirect_uri, code_verifier: verifier };
  return service.submit("/oauth/token", { client_id, ...grant });
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

/** An app's authorization request: the URL to open, and a function that redeems the response. */
export type Request = { address: URL; redeem: (back: URL, verifier?: string) => Promise<Tokens> };

/** A device's code, and a function that polls until the owner has answered. */
export type Device = { user_code: string; verification_uri: string; poll: () => Promise<Tokens> };

/** An app of the client `native`, which knows only our address. */
export type App = {
  ask: (more?: Record<string, string>) => Promise<Request>;
  askByDevice: () => Promise<Device>;
  refresh: (token: string | undefined) => Promise<Tokens>;
  revoke: (token: string | undefined) => Promise<void>;
};

/** Where a library looks for the metadata: RFC 8414's path, or OpenID Connect's. */
type Discovery = "oauth2" | "oidc";

type Library = { name: string; makeApp: (service: Service, algorithm?: Discovery) => Promise<App> };

const scope = "account:read";
const state = "kept";
const pkce = (code_challenge: string) => ({ code_challenge, code_challenge_method: "S256" });

/** The service listens on loopback, whatever its APP_URL is. */
function reach({ url, port }: Service) {
  return (address: string, options: object) =>
    fetch(address.replace(url, `http://127.0.0.1:${port}`), options as RequestInit);
}

/** The complete library, which most programs use. */
export const openidClient: Library = {
  name: "openid-client",
  async makeApp(service, algorithm = "oauth2") {
    const config = await complete.discovery(new URL(service.url), "native", undefined, complete.None(), {
      algorithm,
      execute: [complete.allowInsecureRequests],
      [complete.customFetch]: reach(service),
    });
    return {
      async ask(more = {}) {
        const own = complete.randomPKCECodeVerifier();
        const challenge = pkce(await complete.calculatePKCECodeChallenge(own));
        const asked = { redirect_uri: redirectUri, scope, state, ...challenge, ...more };
        return {
          address: complete.buildAuthorizationUrl(config, asked),
          redeem: (back, pkceCodeVerifier = own) =>
            complete.authorizationCodeGrant(
              config,
              back,
              { pkceCodeVerifier, expectedState: state },
              more.resource ? { resource: more.resource } : {},
            ),
        };
      },
      async askByDevice() {
        const device = await complete.initiateDeviceAuthorization(config, { scope });
        const poll = () => complete.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.1 });
        return { ...device, poll };
      },
      refresh: (token = "") => complete.refreshTokenGrant(config, token),
      revoke: (token = "") => complete.tokenRevocation(config, token),
    };
  },
};

/** The low-level library: the app performs each step itself. */
const oauth4webapi: Library = {
  name: "oauth4webapi",
  async makeApp(service) {
    const options = { [bare.allowInsecureRequests]: true, [bare.customFetch]: reach(service) };
    const issuer = new URL(service.url);
    const answer = await bare.discoveryRequest(issuer, { algorithm: "oauth2", ...options });
    const server = await bare.processDiscoveryResponse(issuer, answer);
    const client = { client_id: "native" };
    const who = [server, client, bare.None()] as const;
    return {
      async ask(more = {}) {
        const own = bare.generateRandomCodeVerifier();
        const address = new URL(server.authorization_endpoint ?? "");
        const challenge = pkce(await bare.calculatePKCECodeChallenge(own));
        const asked = { ...client, response_type: "code", redirect_uri: redirectUri, scope, state };
        address.search = String(new URLSearchParams({ ...asked, ...challenge, ...more }));
        return {
          address,
          async redeem(back, verifier = own) {
            const told = bare.validateAuthResponse(server, client, back, state);
            const additionalParameters = more.resource ? { resource: more.resource } : {};
            const last = { ...options, additionalParameters };
            const redeemed = await bare.authorizationCodeGrantRequest(
              ...who,
              told,
              redirectUri,
              verifier,
              last,
            );
            return bare.processAuthorizationCodeResponse(server, client, redeemed);
          },
        };
      },
      async askByDevice() {
        const asked = await bare.deviceAuthorizationRequest(...who, { scope }, options);
        const device = await bare.processDeviceAuthorizationResponse(server, client, asked);
        const poll = async () => {
          const polled = await bare.deviceCodeGrantRequest(...who, device.device_code, options);
          return bare.processDeviceCodeResponse(server, client, polled);
        };
        return { ...device, poll };
      },
      async refresh(token = "") {
        const refreshed = await bare.refreshTokenGrantRequest(...who, token, options);
        return bare.processRefreshTokenResponse(server, client, refreshed);
      },
      async revoke(token = "") {
        await bare.processRevocationResponse(await bare.revocationRequest(...who, token, options));
      },
    };
  },
};

/** The OAuth libraries under test. */
export const oauthLibraries: Library[] = [openidClient, oauth4webapi];
