import * as current from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { startOutside } from "@/tests/support/outside";
import { answerApp } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

/* The official clients, given our address and a provider that keeps what they learn, let in by their owner's click. */

const email = "ceo@example.com";
const redirectUrl = "http://127.0.0.1:51999/callback";
const metadata = { client_name: "A client", redirect_uris: [redirectUrl] };

/** As Claude Code and Codex publish theirs: no port, and not a word of being native. */
const clientMetadataUrl = "https://claude.ai/oauth/claude-code-client-metadata";
const published = {
  client_id: clientMetadataUrl,
  client_name: "Claude Code",
  redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

const evil = "http://desk.example.com/callback";

/** What no client's document may say, though its host is on the list. */
const refusedDocuments: [string, string, object][] = [
  ["an answer over plain http elsewhere", "plain-http", { redirect_uris: [evil] }],
  [
    "that it is a web application, with an answer over plain http",
    "plain-http-web",
    { application_type: "web", redirect_uris: [evil] },
  ],
  ["one such answer among good ones", "mixed", { redirect_uris: [redirectUrl, evil] }],
  ["an answer behind a user name", "user-name", { redirect_uris: ["https://claude.ai@evil.example/"] }],
  ["an answer that is spelled oddly", "spelling", { redirect_uris: ["https://EVIL.example/a"] }],
  ["a script for an answer", "script", { redirect_uris: ["javascript:alert(1)"] }],
  ["another's name for its own", "other", { client_id: clientMetadataUrl }],
  ["a secret that all can read", "secret", { client_secret: "s" }],
  ["that it keeps a secret", "confidential", { token_endpoint_auth_method: "client_secret_post" }],
  ["more than a document says", "long", { client_name: "x".repeat(100_000) }],
];
const addressOf = (name: string) => `https://claude.ai/${name}.json`;

/** What a client keeps of its authorization, in memory. */
class Kept {
  redirectUrl = redirectUrl;
  clientMetadata = metadata;
  clientMetadataUrl?: string;
  client: object | undefined;
  kept: { access_token: string; refresh_token?: string } | undefined;
  asked: URL | undefined;
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
  tokens = () => this.kept;
  saveTokens = (tokens: Kept["kept"]) => {
    this.kept = tokens;
  };
  redirectToAuthorization = (address: URL) => {
    this.asked = address;
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

type AnyClient = {
  listTools: () => Promise<{ tools: unknown[] }>;
  callTool: (params: { name: string; arguments: object }) => Promise<Record<string, unknown>>;
  finish: (answer: URLSearchParams) => Promise<void>;
};

const info = { name: "test", version: "1.0.0" };

const clients: [string, (url: URL, kept: Kept) => Promise<AnyClient>][] = [
  [
    "@modelcontextprotocol/sdk",
    async (url, kept) => {
      const transport = new StreamableHTTPClientTransport(url, { authProvider: kept as never });
      const client = new Client(info);
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      return Object.assign(client, {
        finish: (answer: URLSearchParams) => transport.finishAuth(answer.get("code") ?? ""),
      }) as unknown as AnyClient;
    },
  ],
  ...(["legacy", "auto"] as const).map((mode): (typeof clients)[number] => [
    `@modelcontextprotocol/client (${mode})`,
    async (url, kept) => {
      const transport = new current.StreamableHTTPClientTransport(url, { authProvider: kept as never });
      const client = new current.Client(info, { versionNegotiation: { mode } });
      await client.connect(transport);
      return Object.assign(client, {
        finish: (answer: URLSearchParams) => transport.finishAuth(answer),
      }) as unknown as AnyClient;
    },
  ]),
];

let service: Service;
let browser: Browser;
let outside: Awaited<ReturnType<typeof startOutside>>;

beforeAll(async () => {
  const refused = refusedDocuments.map(([, name, said]) => {
    const client_id = addressOf(name);
    return [client_id, { ...published, client_id, ...said }];
  });
  outside = await startOutside({ [clientMetadataUrl]: published, ...Object.fromEntries(refused) });
  service = await Service.start({ SIGN_IN: "local", RATE_LIMIT_MCP: "100000", ...outside.environment });
  await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "3");
  browser = await Browser.signIn(service, email);
});
afterAll(async () => {
  await service.stop();
  await outside.stop();
});

describe.each(clients)("%s", (_, connect) => {
  it.each(["native", "published"] as const)(
    "connects by address alone as %s, asks when an account is needed, and renews by itself",
    async (as) => {
      const kept = new Kept(as);
      const client = await connect(new URL("/mcp", service.url), kept);
      expect((await client.listTools()).tools.length).toBeGreaterThan(3);
      const read = () => client.callTool({ name: "get_credits_balance", arguments: {} });
      expect(kept.asked, "nobody is asked before").toBeUndefined();

      await expect(read()).rejects.toThrow();
      const asked = kept.asked as URL;
      expect(asked.searchParams.get("client_id")).toBe(as === "native" ? "native" : clientMetadataUrl);
      expect(asked.searchParams.get("resource")).toBe(`${service.url}/mcp`);
      const back = new URL(await answerApp(browser, service, asked.href));
      expect(back.href.startsWith(`${redirectUrl}?`)).toBe(true);
      await client.finish(back.searchParams);
      expect(await read()).toMatchObject({ structuredContent: { credits: 3 } });

      const { refresh_token } = kept.kept ?? {};
      kept.asked = undefined;
      kept.kept = { ...kept.kept, access_token: "over" };
      expect(await read()).toMatchObject({ structuredContent: { credits: 3 } });
      expect(kept.kept?.refresh_token).not.toBe(refresh_token);
      expect(kept.asked, "nobody is asked again").toBeUndefined();
    },
  );
});

it("shows the owner whose document it has read, and reads it once in a while", async () => {
  const query = new URLSearchParams({
    client_id: clientMetadataUrl,
    redirect_uri: redirectUrl,
    response_type: "code",
    code_challenge: "a".repeat(43),
    code_challenge_method: "S256",
    scope: "account:read",
  });
  await browser.open(`/oauth/authorize?${query}`);
  const { text } = await browser.open("/connect");
  // The answer goes to this computer, where any program can publish another's name as its own.
  expect(text).toContain("A program on this computer asks");
  expect(text).toContain(
    "It calls itself <q><bdi>Claude Code</bdi></q>, an app of claude.ai. We cannot tell whether it is.",
  );
  // Once in each of our two processes, whoever has asked since.
  const times = outside.asked.filter((address) => address === clientMetadataUrl).length;
  expect([1, 2]).toContain(times);
});

it.each(refusedDocuments)("is no client by a document that says %s", async (_, name, said) => {
  const { redirect_uris: [redirect_uri = ""] = published.redirect_uris } = said as {
    redirect_uris?: string[];
  };
  const query = new URLSearchParams({
    client_id: addressOf(name),
    redirect_uri,
    response_type: "code",
    scope: "account:read",
    code_challenge: "a".repeat(43),
    code_challenge_method: "S256",
  });
  const { status, headers } = await browser.open(`/oauth/authorize?${query}`);
  expect(status).toBe(400);
  expect(headers).not.toHaveProperty("location");
  expect(outside.asked).toContain(addressOf(name));
});
