import { createHash, randomBytes } from "node:crypto";
import type { Answer, Service } from "@/tests/support/service";

/*
 * Stand-ins for the connectors of claude.ai and ChatGPT, which run at their makers' and reach only public addresses. They
 * do what these documents say, and are as strict. Https is left out, because the service listens on loopback.
 *
 * Claude: claude.com/docs/connectors/building/authentication
 * Lazy: claude.com/docs/connectors/building/lazy-authentication
 * OpenAI: developers.openai.com/plugins/build/auth, before that apps-sdk/build/auth
 * MCP: modelcontextprotocol.io/specification/2025-11-25/basic/authorization, which both implement
 */

type Document = { client_id: string; redirect_uris: [string]; [field: string]: unknown };

export type Vendor = {
  name: string;
  /** Its metadata document, which it sends as its client id. */
  document: Document;
  /** The seconds before a token's end at which it renews the token without being refused. */
  renewsEarlySeconds: number;
  /** Whether it starts a sign-in only at a tool that declares it and at a result that asks for it. */
  readsResults: boolean;
};

export const claude: Vendor = {
  name: "Claude",
  document: {
    client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
    client_name: "Claude",
    client_uri: "https://claude.ai",
    // Claude, Callback URLs
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
    grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  // Claude, Token refresh: "proactively up to five minutes before the stored expiry"
  renewsEarlySeconds: 5 * 60,
  // Lazy: "the 401 status and the WWW-Authenticate header carry the signal, and the body is advisory"
  readsResults: false,
};

export const chatGpt: Vendor = {
  name: "ChatGPT",
  document: {
    // OpenAI, OAuth flow, step 2: the stable document, for servers that identify their issuer
    client_id: "https://chatgpt.com/oauth/client.json",
    client_name: "ChatGPT",
    // OpenAI, Redirect URL: the stable one, for the same servers
    redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    // OpenAI, Client registration: both fields, during the transition of SEP-3149
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    token_endpoint_auth_method: "private_key_jwt",
    jwks_uri: "https://chatgpt.com/oauth/jwks.json",
  },
  renewsEarlySeconds: 0,
  // OpenAI, Triggering authentication UI: "both metadata […] and runtime errors"
  readsResults: true,
};

export const vendors = [claude, chatGpt];

/** How it gets its client id: by its metadata document (CIMD), or by dynamic registration (DCR). */
export type Identification = "document" | "registration";

type Metadata = Record<string, string | string[] | boolean | undefined>;
type Tokens = { access_token: string; refresh_token: string; expires_in: number };
type Tool = { name: string; securitySchemes?: { type: string }[] };
type Result = { isError?: boolean; structuredContent?: unknown; _meta?: Record<string, unknown> };

// Claude, Endpoint latency
const maxMs = { other: 10_000, refresh: 30_000 };

/** One connector that a person has added, with its tokens. */
export class Connector {
  /** How often its owner was asked. */
  asked = 0;
  tools: Tool[] = [];
  private clientId = "";
  private server: Metadata = {};
  private tokens: (Tokens & { endsAtMs: number }) | undefined;

  constructor(
    private readonly vendor: Vendor,
    private readonly identification: Identification,
    private readonly service: Service,
    /** Opens an authorization URL in the browser of its owner, who approves. Returns the redirect. */
    private readonly approve: (address: string) => Promise<string>,
    /** The URL of the MCP server, as the person entered it. */
    private readonly url: string,
    /** The time, in Unix milliseconds. */
    private readonly now: () => number,
  ) {}

  /** Connects, and signs in if that is refused. */
  async add(): Promise<void> {
    const clientInfo = { name: this.vendor.name, version: "1.0.0" };
    const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    let answer = await this.send("initialize", hello);
    if (answer.status === 401) {
      await this.signIn(String(answer.headers["www-authenticate"]));
      answer = await this.send("initialize", hello);
    }
    demand(answer.status === 200, `initialize: ${answer.status} ${answer.text}`);
    const listed = await this.send("tools/list", {});
    this.tools = JSON.parse(listed.text).result.tools;
  }

  /** Calls a tool. Renews the token, or signs in, if needed. */
  async call(name: string): Promise<Result> {
    const { renewsEarlySeconds } = this.vendor;
    if (this.tokens && this.now() >= this.tokens.endsAtMs - renewsEarlySeconds * 1000) await this.renew();
    const params = { name, arguments: {} };
    let answer = await this.send("tools/call", params);
    if (answer.status === 401) {
      const challenge = this.challengeOf(name, answer);
      // Claude, Token refresh: "reactively on a 401 response"
      if (!this.tokens || !(await this.renew())) await this.signIn(challenge);
      answer = await this.send("tools/call", params);
    }
    demand(answer.status === 200, `tools/call: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text).result;
  }

  /** Renews its token; gives it up if it is refused. Whether it has a token now. */
  async renew({ loseAnswer = false } = {}): Promise<boolean> {
    const { refresh_token = "" } = this.tokens ?? {};
    const parameters = { grant_type: "refresh_token", refresh_token, resource: this.url };
    const answer = await this.token(parameters, maxMs.refresh);
    if (loseAnswer) return true;
    if (answer.status === 200) return this.keep(answer);
    // Claude, Token refresh: "`invalid_grant`, not `invalid_request` or a custom code"
    demand(JSON.parse(answer.text).error === "invalid_grant", `refused with ${answer.text}`);
    this.tokens = undefined;
    return false;
  }

  /** Has the owner approve, from the challenge of a 401 on. */
  private async signIn(challenge: string): Promise<void> {
    const resource = await this.readResource(challenge);
    // Claude, Serve discovery metadata: "must equal the URL as the user enters it in Claude, including any path"
    demand(resource.resource === this.url, `the resource is ${resource.resource}`);
    // The same: "Claude uses the first entry and doesn't fall back to later entries"
    const [issuer = ""] = resource.authorization_servers as string[];
    this.server = await this.readServer(issuer);
    const methods = this.server.code_challenge_methods_supported as string[] | undefined;
    // OpenAI: "MCP servers are unsupported when their metadata omits this field or does not advertise `S256`"
    demand(methods?.includes("S256"), "no S256");
    this.clientId = await this.identify();
    const [redirect_uri] = this.vendor.document.redirect_uris;
    const verifier = randomBytes(32).toString("base64url");
    const state = randomBytes(16).toString("base64url");
    // Claude, PKCE and requested scopes: the challenge's, else those of the resource, and `offline_access` if offered
    const scopes = [parameterOf(challenge, "scope") ?? (resource.scopes_supported as string[]).join(" ")];
    if ((this.server.scopes_supported as string[]).includes("offline_access")) scopes.push("offline_access");
    const asked = new URL(String(this.server.authorization_endpoint));
    asked.search = String(
      new URLSearchParams({
        response_type: "code",
        client_id: this.clientId,
        redirect_uri,
        state,
        // A person who reconnects ChatGPT is sent without scopes: community.openai.com/t/1366784
        ...(this.asked === 0 && { scope: scopes.join(" ") }),
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        // OpenAI, Echo the resource parameter: "to both the authorization and token requests"; MCP, Resource Parameter
        resource: this.url,
      }),
    );
    this.asked++;
    const back = new URL(await this.approve(asked.href));
    demand(back.href.startsWith(`${redirect_uri}?`), `sent back to ${back.href}`);
    demand(back.searchParams.get("state") === state, "another state");
    // OpenAI, Protect callbacks with issuer identification: "clients use exact string comparison"
    demand(back.searchParams.get("iss") === issuer, "another issuer");
    const code = back.searchParams.get("code") ?? "";
    const grant = { grant_type: "authorization_code", code, redirect_uri, code_verifier: verifier };
    const answer = await this.token({ ...grant, resource: this.url }, maxMs.other);
    demand(answer.status === 200, `no token: ${answer.text}`);
    this.keep(answer);
  }

  /** The metadata of the protected resource, to which the challenge points. */
  private async readResource(challenge: string): Promise<Metadata> {
    const { origin, pathname } = new URL(this.url);
    // Claude, Serve discovery metadata: without a pointer, the path's document, and then the host's
    const pointer = parameterOf(challenge, "resource_metadata");
    const known = `${origin}/.well-known/oauth-protected-resource`;
    return this.readFirst(pointer ? [pointer] : [known + pathname, known]);
  }

  private async readServer(issuer: string): Promise<Metadata> {
    // OpenAI, Publish OAuth metadata: "one of the well-known discovery documents"
    const known = ["oauth-authorization-server", "openid-configuration"];
    const server = await this.readFirst(known.map((name) => `${issuer}/.well-known/${name}`));
    demand(server.issuer === issuer, `the issuer is ${server.issuer}`);
    // OpenAI, Redirect URL: otherwise it sends another document and another redirect URI
    demand(server.authorization_response_iss_parameter_supported === true, "no `iss` in answers");
    return server;
  }

  private async readFirst(addresses: string[]): Promise<Metadata> {
    for (const address of addresses) {
      const { status, headers, text } = await this.ask(address, {}, maxMs.other);
      const isJson = headers["content-type"]?.startsWith("application/json");
      if (status === 200 && isJson) return JSON.parse(text);
    }
    throw new Error(`no metadata at ${addresses}`);
  }

  private async identify(): Promise<string> {
    const { client_id, redirect_uris, client_name, grant_types, response_types } = this.vendor.document;
    const accepted = this.server.token_endpoint_auth_methods_supported as string[];
    if (this.identification === "document") {
      // Claude, DCR and CIMD details: both values, or it registers. OpenAI, Client registration: a method of both lists
      demand(this.server.client_id_metadata_document_supported === true, "no metadata documents");
      demand(accepted.includes("none"), "no public clients");
      return client_id;
    }
    // OpenAI: "ChatGPT runs DCR once per MCP server connection, then keeps and reuses the registered OAuth client"
    if (this.clientId) return this.clientId;
    const own = { redirect_uris, client_name, grant_types, response_types };
    const body = JSON.stringify({ ...own, token_endpoint_auth_method: "none" });
    const sent = { method: "POST", headers: { "content-type": "application/json" }, body };
    const answer = await this.ask(String(this.server.registration_endpoint), sent, maxMs.other);
    demand(answer.status === 201, `not registered: ${answer.text}`);
    return JSON.parse(answer.text).client_id;
  }

  /** Claude, Token refresh: `application/x-www-form-urlencoded` for both grants. A public client sends its id alone. */
  private token(parameters: Record<string, string>, withinMs: number): Promise<Answer> {
    const body = String(new URLSearchParams({ ...parameters, client_id: this.clientId }));
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return this.ask(String(this.server.token_endpoint), { method: "POST", headers, body }, withinMs);
  }

  private keep({ text }: Answer): true {
    const tokens = JSON.parse(text) as Tokens;
    // Claude, Token refresh: "return the new refresh token in the same response that invalidates the old one"
    demand(tokens.refresh_token && tokens.expires_in > 0, "no refresh token or lifetime");
    this.tokens = { ...tokens, endsAtMs: this.now() + tokens.expires_in * 1000 };
    return true;
  }

  /** The challenge from which a refused tool call starts the sign-in. */
  private challengeOf(name: string, { headers, text }: Answer): string {
    // Lazy: "Only a transport-level 401 causes Claude to pause the call, run the OAuth flow, and retry"
    if (!this.vendor.readsResults) return String(headers["www-authenticate"]);
    const schemes = this.tools.find((tool) => tool.name === name)?.securitySchemes ?? [];
    demand(
      schemes.some(({ type }) => type === "oauth2"),
      `${name} does not declare oauth2`,
    );
    const { isError, _meta } = JSON.parse(text).result as Result;
    const [challenge = ""] = (_meta?.["mcp/www_authenticate"] ?? []) as string[];
    // OpenAI: "make sure the value contains both an `error` and `error_description` parameter"
    demand(isError && parameterOf(challenge, "error") && parameterOf(challenge, "error_description"), text);
    return challenge;
  }

  private send(method: string, params: object): Promise<Answer> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(this.tokens && { authorization: `Bearer ${this.tokens.access_token}` }),
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return this.ask(this.url, { method: "POST", headers, body }, maxMs.other);
  }

  private async ask(
    address: string,
    options: Parameters<Service["ask"]>[1],
    withinMs: number,
  ): Promise<Answer> {
    const startedMs = performance.now();
    const answer = await this.service.ask(address.replace(this.service.url, ""), options);
    demand(performance.now() - startedMs < withinMs, `too late: ${address}`);
    return answer;
  }
}

/** A parameter of a challenge (RFC 9110 §11.6.1). */
function parameterOf(challenge: string, name: string): string | undefined {
  return new RegExp(`[ ,]${name}="([^"]*)"`).exec(challenge)?.[1];
}

function demand(isMet: unknown, problem: string): asserts isMet {
  if (!isMet) throw new Error(problem);
}
