import { decodeJwt } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { documents, findDocument } from "@/lib/docs/documents";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { markdownPath } from "@/lib/http/register/pages";
import { maxCharacters } from "@/lib/mcp/document-reader";
import { borrowService } from "@/tests/support/block";
import { between, expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { expectMcpStamp, post, postLegacy, postModern } from "@/tests/support/mcp";
import type { Answer, Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

type Result = { isError?: boolean; structuredContent?: unknown; content: { type: string; text: string }[] };

let addresses = 0;
/** An address without any requests yet. */
const newAddress = () => `127.45.${++addresses >> 8}.${addresses & 255}`;

/** Calls a tool in both protocol versions, compares the results and returns one. */
async function call(
  service: Service,
  name: string,
  { arguments: input = {}, headers = {} }: { arguments?: object; headers?: Record<string, string> } = {},
): Promise<Result> {
  const message = { method: "tools/call", params: { name, arguments: input } };
  const options = { headers, from: newAddress() };
  const legacy = await postLegacy(service, message, options);
  const modern = await postModern(service, message, options);
  expect(legacy.status, legacy.text).toBe(200);
  const { isError, structuredContent, content } = JSON.parse(legacy.text).result;
  const { resultType, _meta, ...same } = JSON.parse(modern.text).result;
  expect(resultType).toBe("complete");
  expect(withoutJitter(same)).toEqual(
    withoutJitter({
      content,
      ...(structuredContent && { structuredContent }),
      ...(isError && { isError }),
    }),
  );
  expect(content[0].type).toBe("text");
  if (structuredContent) expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  return same;
}

/** Replaces the random delays in a result. */
function withoutJitter(result: object): object {
  return JSON.parse(
    JSON.stringify(result)
      .replace(/(recheckAfterSeconds\\?":)\d+/g, "$1600")
      .replace(/Wait \d+ seconds/, "Wait 5 seconds"),
  );
}

type Options = { headers: Record<string, string>; path?: string; from: string };

/** A message of each kind, in both protocol versions where both have it. */
const messages = [
  ...[
    { method: "tools/list" },
    { method: "tools/call", params: { name: "get_credits_balance", arguments: {} } },
    { method: "tools/call", params: { name: "get_doc", arguments: { path: "/docs" } } },
    { method: "resources/read", params: { uri: "corner-office://limits" } },
    { method: "nothing/here" },
  ].flatMap((message) => [
    {
      name: `${JSON.stringify(message)} of an earlier version`,
      send: (to: Service, options: Options) => postLegacy(to, message, options),
    },
    {
      name: `${JSON.stringify(message)} of 2026-07-28`,
      send: (to: Service, options: Options) => postModern(to, message, options),
    },
  ]),
  ...[
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    "{",
  ].map((body) => ({
    name: body,
    send: (to: Service, options: Options) => post(to, body, options),
  })),
];

describe.each(engines)("the tools on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "12.125");

  const bearer = async (email: string) => ({ Authorization: `Bearer ${await service.token(email)}` });
  const detail = (code: ErrorCode) => {
    const { message, hint } = errorCatalogue[code];
    return { code, message, hint, docs: `${service.url}/docs/api/errors#${code}` };
  };
  const denied = (code: ErrorCode, status: string) => {
    const { message } = errorCatalogue[code];
    return { ok: false, status, message, error: detail(code) };
  };

  it("return the account's entitlement and balance as the HTTP API does", async () => {
    const headers = await bearer("ceo@example.com");
    const entitlement = await call(service, "get_entitlement", { headers });
    expect(entitlement.structuredContent).toEqual({
      ok: true,
      status: "licensed",
      recheckAfterSeconds: between(600, 900),
      plan: "licensed",
      features: [],
      limits: {},
    });
    expect(entitlement).not.toHaveProperty("isError");
    const overHttp = await service.ask("/api/entitlement", { headers });
    expect(withoutJitter(entitlement.content)).toEqual(
      withoutJitter([{ type: "text", text: overHttp.text }]),
    );
    const balance = await call(service, "get_credits_balance", { headers });
    expect(balance.structuredContent).toEqual({ credits: 12.125 });
  });

  it("say what the plan contains, in fields that a client validates", async () => {
    const email = "studio@example.com";
    await service.adminJson("account", "add", email, "--plan", "licensed", "--assistant-limit", "7");
    const beyond = "--feature voice --limit projects=20 --limit seats=none".split(" ");
    await service.adminJson("account", "set", email, ...beyond);
    const { structuredContent } = await call(service, "get_entitlement", { headers: await bearer(email) });
    expect(structuredContent).toEqual({
      ok: true,
      status: "licensed",
      recheckAfterSeconds: between(600, 900),
      plan: "licensed",
      assistantLimit: 7,
      features: ["voice"],
      limits: { assistants: 7, projects: 20, seats: null },
    });
  });

  it("deny an account whose trial has ended with the body of the HTTP API", async () => {
    await service.adminJson("account", "add", "ended@example.com", "--trial-ends", "2026-01-01");
    const headers = await bearer("ended@example.com");
    const result = await call(service, "get_entitlement", { headers });
    expect(result).not.toHaveProperty("isError");
    expect(result.structuredContent).toEqual(denied("trial_ended", "trial-ended"));
    expect(result.content).toHaveLength(1);
  });

  /** What a user reads whose client did not start the sign-in: never to bring a token into the conversation. */
  const hintAt = (path: string) => {
    const elsewhere = ` If it does not ask, connect it to ${service.url}/mcp/account instead.`;
    return `Sign in with the MCP client, which asks the account's owner in a browser.${path === "/mcp/account" ? "" : elsewhere} A token goes into its settings, as 'Authorization: Bearer <SESSION_TOKEN>', and never into the conversation.`;
  };

  /** Checks the result that tells ChatGPT to have its user sign in (developers.openai.com/apps-sdk/build/auth). */
  const expectSignedOutResult = ({ status, headers, text }: Answer, path: string, hint: string) => {
    const said = `error_description="${errorCatalogue.signed_out.message}"`;
    const challenge = `Bearer realm="corner-office", error="invalid_token", ${said}, ${hint}`;
    expect(status, text).toBe(401);
    expect(headers["content-type"]).toBe("application/json");
    expect(JSON.parse(text)).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      result: {
        isError: true,
        content: [
          { type: "text", text: JSON.stringify({ error: { ...detail("signed_out"), hint: hintAt(path) } }) },
        ],
        _meta: { "mcp/www_authenticate": [challenge] },
      },
    });
  };

  /** What lacks a valid token, with its challenge, and how the refusal at a path points to the sign-in. */
  async function refusedAt(path: string) {
    const token = await service.token("ceo@example.com");
    const ended = await service.token("ceo@example.com");
    await stage.query(`DELETE FROM local_sessions WHERE id = '${decodeJwt(ended).sid}'`);
    const metadata = `${service.url}/.well-known/oauth-protected-resource${path}`;
    const hint = `resource_metadata="${metadata}", scope="account:read"`;
    const missing = `Bearer realm="corner-office", ${hint}`;
    const invalid = `Bearer realm="corner-office", error="invalid_token", ${hint}`;
    // The cookie is never used.
    const Cookie = `__session=${token}`;
    const attempts: [Record<string, string>, string][] = [
      [{}, missing],
      [{ Cookie }, missing],
      [{ Authorization: "Basic dXNlcjpwYXNz", Cookie }, missing],
      [{ Authorization: "Bearer bad", Cookie }, invalid],
      [{ Authorization: "Bearer", Cookie }, invalid],
      [{ Authorization: `Bearer ${token}x` }, invalid],
      [{ Authorization: `Bearer ${ended}` }, invalid],
    ];
    return { attempts, hint };
  }

  it.each(["/mcp", "/api/mcp"])(
    "answer 401 at %s if they need an account and the token is missing or invalid",
    async (path) => {
      const { attempts, hint } = await refusedAt(path);
      for (const [headers, challenge] of attempts) {
        const options = () => ({ headers, path, from: newAddress() });
        for (const name of ["get_entitlement", "get_credits_balance"]) {
          for (const send of [postLegacy, postModern]) {
            const answer = await send(service, { method: "tools/call", params: { name } }, options());
            expectSignedOutResult(answer, path, hint);
            expect(answer.headers["www-authenticate"]).toBe(challenge);
            expectMcpStamp(service, answer);
            expect(answer.headers).toHaveProperty("ratelimit-remaining");
            // Not a valid call, so it has no result.
            const params = { name, arguments: 7 };
            const wrong = await send(service, { method: "tools/call", params }, options());
            expectRefusal(service, wrong, { status: 401, code: "signed_out", hint: hintAt(path) });
            expect(wrong.headers["www-authenticate"]).toBe(challenge);
          }
        }
        for (const { send } of messages.filter(({ name }) => /tools\/list|get_doc|resources/.test(name))) {
          const { status, text } = await send(service, options());
          expect(status, text).toBe(200);
          expect(JSON.parse(text).result, text).not.toHaveProperty("isError");
        }
      }
    },
  );

  it("answer 401 to every message at /mcp/account, if the token is missing or invalid", async () => {
    const path = "/mcp/account";
    const { attempts, hint } = await refusedAt(path);
    for (const [headers, challenge] of attempts) {
      for (const message of messages) {
        const answer = await message.send(service, { headers, path, from: newAddress() });
        if (message.name.includes("tools/call")) expectSignedOutResult(answer, path, hint);
        else expectRefusal(service, answer, { status: 401, code: "signed_out", hint: hintAt(path) });
        expect(answer.headers["www-authenticate"]).toBe(challenge);
        expectMcpStamp(service, answer);
        expect(answer.headers).toHaveProperty("ratelimit-remaining");
      }
    }
  });

  it.each(["/mcp", "/api/mcp", "/mcp/account"])("have the metadata of %s published", async (path) => {
    const found = await service.ask(`/.well-known/oauth-protected-resource${path}`);
    expect(found.status).toBe(200);
    expect(found.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(found.text)).toEqual({
      resource: service.url + path,
      resource_name: "Corner Office",
      authorization_servers: [service.url],
      scopes_supported: ["account:read"],
      bearer_methods_supported: ["header"],
      dpop_signing_alg_values_supported: ["ES256", "Ed25519", "EdDSA"],
      resource_documentation: `${service.url}/docs/connect`,
    });
  });

  it.each(messages)("answer $name at /mcp/account with a token exactly as at /mcp", async ({ send }) => {
    const headers = await bearer("ceo@example.com");
    const expected = await send(service, { headers, from: newAddress() });
    const answer = await send(service, { headers, path: "/mcp/account", from: newAddress() });
    expect(answer.status).toBe(expected.status);
    // Only the tools need a token there that need none elsewhere.
    const open = JSON.stringify({ type: "noauth" });
    expect(answer.text).toBe(expected.text.replaceAll(open, JSON.stringify(signIn)));
    const { "x-request-id": _, date: __, "content-length": ___, ...same } = expected.headers;
    expect(answer.headers).toMatchObject(same);
  });

  it("report an outage of the store as unavailable, never as signed out, with the seconds to wait", async () => {
    const headers = await bearer("ceo@example.com");
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    const entitlement = await call(service, "get_entitlement", { headers });
    const balance = await call(service, "get_credits_balance", { headers });
    const health = await call(service, "get_health", { headers });
    await stage.query("ALTER TABLE accounts_away RENAME TO accounts");
    expect(entitlement.isError).toBe(true);
    expect(entitlement.structuredContent).toEqual(denied("unavailable", "unavailable"));
    expect(entitlement.content[1]?.text).toMatch(/^Wait (?:[5-9]|[12]\d|30) seconds before trying again\.$/);
    expect(balance.isError).toBe(true);
    expect(JSON.parse(balance.content[0]?.text ?? "")).toEqual({ error: detail("balance_unavailable") });
    expect(health.structuredContent).toMatchObject({ ok: true });
    expect((await call(service, "get_entitlement", { headers })).structuredContent).toMatchObject({
      ok: true,
    });
    // One error for each of the four calls.
    const errors: string[] = [];
    await eventually(() => {
      errors.push(...service.takeErrors());
      expect(errors).toEqual(Array(4).fill("an account could not be read"));
    });
  });
});

/** The scheme of a tool that needs a token, as ChatGPT reads it (developers.openai.com/apps-sdk/build/auth). */
const signIn = { type: "oauth2", scopes: ["account:read"] };

const listedTools = [
  { name: "get_health", title: "Service health", needsAccount: false },
  { name: "get_site_banner", title: "Site banner", needsAccount: false },
  { name: "get_entitlement", title: "Entitlement of the account", needsAccount: true },
  { name: "get_credits_balance", title: "Credit balance of the account", needsAccount: true },
  { name: "search_docs", title: "Search the documents", needsAccount: false },
  { name: "get_doc", title: "Read a document", needsAccount: false, answersText: true },
  { name: "search", title: "Search for ChatGPT", needsAccount: false },
  { name: "fetch", title: "Fetch for ChatGPT", needsAccount: false },
];

describe("the tools", () => {
  let service: Service;
  beforeEach(async () => {
    service = await unconfigured();
  });

  it("report that sign-in is not set up, with and without a token", async () => {
    for (const headers of [{}, { Authorization: "Bearer x" }]) {
      const entitlement = await call(service, "get_entitlement", { headers });
      expect(entitlement.isError).toBe(true);
      expect(entitlement.structuredContent).toMatchObject({ status: "unconfigured" });
      const balance = await call(service, "get_credits_balance", { headers });
      expect(balance.isError).toBe(true);
      expect(balance.content[0]?.text).toContain('"code":"balance_unavailable"');
    }
  });

  it("search the documents, best first, and read them", async () => {
    const arguments_ = { query: "rate limit headers" };
    const found = (await call(service, "search_docs", { arguments: arguments_ })).structuredContent as {
      results: { path: string; url: string; title: string; snippet: string }[];
    };
    expect(found.results).toHaveLength(3);
    expect(found.results[0]?.path).toMatch(/^\/docs\/api\/limits/);
    for (const { path, url, snippet } of found.results) {
      expect(url).toBe(service.url + path);
      expect(snippet.length).toBeLessThanOrEqual(300);
    }
    const { path = "", url = "" } = found.results[0] ?? {};
    for (const pathOrUrl of [path, url]) {
      const read = await call(service, "get_doc", { arguments: { path: pathOrUrl } });
      expect(read.content).toHaveLength(1);
      expect(read).not.toHaveProperty("structuredContent");
      expect(read.content[0]?.text).toMatch(/^## /);
    }
    // As the list of resources and llms.txt write them, and as models do.
    for (const path of [
      "/docs/api/limits",
      "docs/api/limits",
      "/docs/api/limits/",
      "corner-office://docs/api/limits",
      `${service.url}/docs/api/limits.md`,
    ]) {
      const whole = await call(service, "get_doc", { arguments: { path } });
      expect(whole.content[0]?.text).toMatch(/^# Limits\n/);
    }
    const one = await call(service, "search_docs", { arguments: { query: "limits", limit: 1 } });
    expect((one.structuredContent as { results: unknown[] }).results).toHaveLength(1);
    const none = await call(service, "search_docs", { arguments: { query: "zebra xylophone" } });
    const hint = expect.stringContaining("Nothing found.");
    expect(none.structuredContent).toEqual({ results: [], hint });
  });

  it("search and read for ChatGPT: exactly its fields, as structured content and as one JSON text", async () => {
    const found = await call(service, "search", { arguments: { query: "rate limit headers" } });
    const { results } = found.structuredContent as {
      results: { id: string; title: string; url: string }[];
    };
    const id = "/docs/api/limits#headers";
    expect(results).toContainEqual({ id, title: "Limits: Headers", url: service.url + id });
    expect(results.length).toBeLessThanOrEqual(10);
    for (const result of results) {
      expect(Object.keys(result)).toEqual(["id", "title", "url"]);
      const read = await call(service, "fetch", { arguments: { id: result.id } });
      const text = (await call(service, "get_doc", { arguments: { path: result.id } })).content[0]?.text;
      const metadata = { summary: expect.stringMatching(/^[A-Z].+\.$/) };
      expect(read.structuredContent).toEqual({ ...result, text, metadata });
      expect(read.content).toHaveLength(1);
    }
    expect(found.content).toHaveLength(1);
    const none = await call(service, "search", { arguments: { query: "zebra xylophone" } });
    const hint = expect.stringContaining("Nothing found.");
    expect(none.structuredContent).toEqual({ results: [], hint });
    const same = await call(service, "search_docs", { arguments: { query: "rate limit headers" } });
    const [{ path, title, url }] = (same.structuredContent as { results: Record<string, string>[] })
      .results as [Record<string, string>];
    expect(results[0]).toEqual({ id: path, title, url });
    const byUrl = await call(service, "fetch", { arguments: { id: `${service.url}/docs/api/limits` } });
    expect(byUrl.structuredContent).toMatchObject({ id: "/docs/api/limits", title: "Limits" });
    const unknown = await call(service, "fetch", { arguments: { id: "/docs/nothing" } });
    expect(unknown.isError).toBe(true);
    expect(JSON.parse(unknown.content[0]?.text ?? "").error.code).toBe("not_found");
  });

  it("return the beginning of a long document, and the paths of its other sections", async () => {
    const read = async (path: string) =>
      (await call(service, "get_doc", { arguments: { path } })).content[0]?.text ?? "";
    const readAll = async (path: string): Promise<string> => {
      const text = await read(path);
      const [, rest] =
        /\n\(This is only the beginning\. Read the other sections at: (.+)\.\)\n$/.exec(text) ?? [];
      const sections = await Promise.all((rest?.split(", ") ?? []).map(readAll));
      return [text, ...sections].join("\n");
    };
    for (const document of documents) {
      const { text: whole } = await service.ask(markdownPath(document.path));
      const beginning = await read(document.path);
      if (whole.length <= maxCharacters) expect(beginning).toBe(whole);
      else expect(beginning.length).toBeLessThan(maxCharacters + 2000);
      const all = await readAll(document.path);
      for (const paragraph of whole.split("\n\n")) expect(all).toContain(paragraph);
    }
  });

  it("answer an unknown document with the fields of an ApiError", async () => {
    for (const path of ["/docs/nothing", "/etc/passwd", "https://evil.example/docs/api/limits"]) {
      const result = await call(service, "get_doc", { arguments: { path } });
      expect(result.isError).toBe(true);
      expect(result).not.toHaveProperty("structuredContent");
      expect(JSON.parse(result.content[0]?.text ?? "")).toEqual({
        error: {
          code: "not_found",
          message: "There is no document with this path.",
          hint: "Use a path from search_docs or from the list of resources.",
          docs: `${service.url}/docs/api/errors#not_found`,
        },
      });
    }
    const noSection = await call(service, "get_doc", { arguments: { path: "/docs/api/limits#nothing" } });
    expect(noSection.isError).toBe(true);
    expect(noSection.content[0]?.text).toContain("/docs/api/limits#headers");
  });

  it("are all listed in the MCP document", () => {
    const markdown = findDocument("/docs/mcp")?.markdown() ?? "";
    for (const { name, needsAccount } of listedTools) {
      const row = markdown.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${name}\``));
      expect(row?.includes("a token"), name).toBe(needsAccount);
    }
  });

  it("are listed in a fixed order as read-only, with a title and schemas", async () => {
    const { result } = JSON.parse(
      (await postLegacy(service, { method: "tools/list" }, { from: newAddress() })).text,
    );
    expect(result.tools).toHaveLength(listedTools.length);
    for (const [n, { name, title, needsAccount, answersText }] of listedTools.entries()) {
      const listed = result.tools[n];
      const securitySchemes = [needsAccount ? signIn : { type: "noauth" }];
      expect(listed).toMatchObject({
        name,
        title,
        securitySchemes,
        _meta: { securitySchemes },
        description: expect.stringMatching(/^[A-Z].+\.$/),
        inputSchema: { type: "object", additionalProperties: false },
        ...(!answersText && { outputSchema: { type: "object" } }),
        annotations: {
          title,
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      });
      expect(listed.description.includes("Needs a bearer token")).toBe(needsAccount);
      expect(JSON.stringify(listed.outputSchema ?? {}), "fields can be added").not.toContain(
        '"additionalProperties":false',
      );
    }
    // A client does not show the others to its model.
    const shown = result.tools.map(({ securitySchemes, _meta, ...tool }: Record<string, unknown>) => tool);
    expect(JSON.stringify(shown).length, "a model pays for every token").toBeLessThan(7500);
  });
});
