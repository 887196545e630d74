import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

/*
 * The part that MCP libraries leave to the program: an OAuthClientProvider that keeps its state in a file, opens the
 * owner's browser, and receives the redirect on loopback.
 */

const file = "oauth.json";
const state = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};

function keep(changes) {
  Object.assign(state, changes);
  writeFileSync(file, JSON.stringify(state));
}

let receive;
const received = new Promise((resolve) => {
  receive = resolve;
});
const server = createServer((request, response) => {
  response.end("You can close this page.");
  receive(new URL(request.url, redirectUrl).searchParams);
  server.unref();
}).unref();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
export const redirectUrl = `http://127.0.0.1:${server.address().port}/callback`;

/** Opens an URL in the owner's browser. */
export function open(url) {
  execFileSync("xdg-open", [String(url)]);
}

/** Waits for the owner's approval; returns the parameters of the redirect. */
export const approval = () => received;

export const clientMetadata = {
  client_name: "A program",
  redirect_uris: [redirectUrl],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

export const provider = {
  redirectUrl,
  clientMetadata,
  clientInformation: () => state.client,
  saveClientInformation: (client) => keep({ client }),
  isClientInformationDynamicallyRegistered: () => true,
  tokens: () => state.tokens,
  saveTokens: (tokens) => keep({ tokens }),
  codeVerifier: () => state.verifier,
  saveCodeVerifier: (verifier) => keep({ verifier }),
  authorizationServerInformation: () => state.issuer,
  saveAuthorizationServerInformation: (issuer) => keep({ issuer }),
  invalidateCredentials(scope) {
    if (["all", "tokens"].includes(scope)) keep({ tokens: undefined });
    if (["all", "client"].includes(scope)) keep({ client: undefined });
  },
  redirectToAuthorization(url) {
    server.ref();
    open(url);
  },
};
