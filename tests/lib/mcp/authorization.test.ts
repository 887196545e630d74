import { afterAll, describe, expect, it } from "vitest";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeKeyHolder } from "@/tests/support/key-holder";
import { mcpClients } from "@/tests/support/mcp-clients";
import { authorizePath, redeemCode, redirectUri } from "@/tests/support/oauth-libraries";
import { startOutside } from "@/tests/support/outside";
import { answerApp } from "@/tests/support/owner";

/* The official clients with an in-memory store, approved by an owner. */

const email = "ceo@example.com";
const redirectUrl = "http://127.0.0.1:51999/callback";
const metadata = { client_name: "A client", redirect_uris: [redirectUrl] };

/** A metadata document as Claude Code and Codex publish it, without a port and without `application_type`. */
const clientMetadataUrl = "https://claude.ai/oauth/claude-code-client-metadata";
const published = {
  client_id: clientMetadataUrl,
  client_name: "Claude Code",
  redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

/** An in-memory store for a client's authorization. */
class AuthorizationStore {
  redirectUrl = redirectUrl;
  clientMetadata = metadata;
  clientMetadataUrl?: string;
  client: object | undefined;
  savedTokens: { access_token: string; refresh_token?: string } | undefined;
  requestUrl: URL | undefined;
  verifier = "";
  discovered: object | undefined;

  constructor(as: "native" | "published") {
    if (as === "native") this.client = { client_id: "native" };
    else this.clientMetadataUrl = clientMetadataUrl;
  }
  clientInformation = () => this.client;
  saveClientInformation = (client: object) => {
    this.client = client;
  };
  tokens = () => this.savedTokens;
  saveTokens = (tokens: AuthorizationStore["savedTokens"]) => {
    this.savedTokens = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.requestUrl = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (state: object) => {
    this.discovered = state;
  };
  discoveryState = () => this.discovered;
}

const outside = await startOutside({ [clientMetadataUrl]: published });
afterAll(() => outside.stop());
const environment = { SIGN_IN: "local", RATE_LIMIT_MCP: "100000" };
const service = await startService({ ...environment, ...outside.environment });
await service.ready(); // the store is there
await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "3");
const browser = await Browser.signIn(service, email);

describe.each(mcpClients)("$name", ({ connect }) => {
  it.each(["native", "published"] as const)(
    "connects as %s with only the URL, requests approval when it needs an account, and refreshes its tokens",
    async (as) => {
      const saved = new AuthorizationStore(as);
      const client = await connect(new URL("/mcp", service.url), { authProvider: saved });
      expect((await client.listTools()).tools.length).toBeGreaterThan(3);
      const read = () => client.callTool({ name: "get_credits_balance", arguments: {} });
      expect(saved.requestUrl, "no approval is requested yet").toBeUndefined();

      await expect(read()).rejects.toThrow();
      const asked = saved.requestUrl as URL;
      expect(asked.searchParams.get("client_id")).toBe(as === "native" ? "native" : clientMetadataUrl);
      expect(asked.searchParams.get("resource")).toBe(`${service.url}/mcp`);
      const back = new URL(await answerApp(browser, service, asked.href));
      expect(back.href.startsWith(`${redirectUrl}?`)).toBe(true);
      await client.finish(back.searchParams);
      expect(await read()).toMatchObject({ structuredContent: { credits: 3 } });

      const { refresh_token } = saved.savedTokens ?? {};
      saved.requestUrl = undefined;
      saved.savedTokens = { ...saved.savedTokens, access_token: "expired" };
      expect(await read()).toMatchObject({ structuredContent: { credits: 3 } });
      expect(saved.savedTokens?.refresh_token).not.toBe(refresh_token);
      expect(saved.requestUrl, "no new approval is requested").toBeUndefined();
    },
  );
});

describe.each(mcpClients)("$name whose renewal is refused for now", ({ connect }) => {
  it("does not ask its owner anew, and goes on once it is accepted", async () => {
    const saved = new AuthorizationStore("native");
    let isRefused = false;
    // What too many are answered that are not valid: as in an outage, but for the status.
    const invalid = () =>
      new URLSearchParams({ client_id: "native", grant_type: "refresh_token", refresh_token: "x" });
    const token = `${service.url}/oauth/token`;
    const sometimes = (address: string | URL, init: RequestInit = {}) =>
      fetch(address, isRefused && String(address) === token ? { ...init, body: invalid() } : init);
    const client = await connect(new URL("/mcp", service.url), { authProvider: saved, fetch: sometimes });
    const read = () => client.callTool({ name: "get_credits_balance", arguments: {} });
    await expect(read()).rejects.toThrow();
    const back = new URL(await answerApp(browser, service, String(saved.requestUrl)));
    await client.finish(back.searchParams);

    const answers = () => fetch(token, { method: "POST", body: invalid() });
    for (let status = 400; status === 400; ) ({ status } = await answers());
    expect((await answers()).status).toBe(429);
    isRefused = true;
    saved.requestUrl = undefined;
    saved.savedTokens = { ...saved.savedTokens, access_token: "expired" } as typeof saved.savedTokens;
    const before = saved.savedTokens;
    await expect(read()).rejects.toThrow();
    expect([saved.requestUrl, saved.savedTokens]).toEqual([undefined, before]);
    isRefused = false;
    expect(await read()).toMatchObject({ structuredContent: { credits: 3 } });
  });
});

describe.each(mcpClients)("$name with a fetch that proves its key (SEP-1932)", async ({ connect }) => {
  const service = await startService({ SIGN_IN: "local" });
  const owner = await Browser.admit(service, "bound@example.com", "--plan", "licensed");
  const holder = makeKeyHolder(service.url);

  it("calls the tools of an account with a bound token, and none with a copy of it", async () => {
    const back = await answerApp(owner, service, service.url + authorizePath("native", redirectUri));
    const dpop = holder.prove("POST", "/oauth/token");
    const { text } = await redeemCode(service, "native", redirectUri, back, {}, { dpop });
    const token: string = JSON.parse(text).access_token;
    const proving = (address: string | URL, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      const { pathname } = new URL(address);
      const own = holder.headers(init.method ?? "GET", pathname, token);
      for (const [name, value] of Object.entries(own)) headers.set(name, value);
      return fetch(address, { ...init, headers });
    };
    const address = new URL(`${service.url}/mcp/account`);
    const client = await connect(address, { fetch: proving });
    const result = await client.callTool({ name: "get_entitlement", arguments: {} });
    expect(JSON.stringify(result)).toContain("licensed");
    await client.close();
    const copied = { requestInit: { headers: { authorization: `Bearer ${token}` } } };
    await expect(connect(address, copied)).rejects.toThrow();
  });
});
