import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { documents, findDocument } from "@/lib/docs/documents";
import type { ErrorCode } from "@/lib/http/errors";
import { markdownPath } from "@/lib/http/pages";
import { maxCharacters } from "@/lib/mcp/document-reader";
import { between, expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { giveBack, lend } from "@/tests/support/lent-service";
import { expectMcpStamp, postLegacy, postModern } from "@/tests/support/mcp";
import { refusals } from "@/tests/support/refusals";
import type { Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

type Result = { isError?: boolean; structuredContent?: unknown; content: { type: string; text: string }[] };

let addresses = 0;
/** An address that has spent nothing yet. */
const newAddress = () => `127.45.${++addresses >> 8}.${addresses & 255}`;

/** Calls a tool in both eras, which must agree, and answers its result. */
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
  expect(unspread(same)).toEqual(
    unspread({
      content,
      ...(structuredContent && { structuredContent }),
      ...(isError && { isError }),
    }),
  );
  expect(content[0].type).toBe("text");
  if (structuredContent) expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  return same;
}

/** A result without what no two answers need to share: when to ask again. */
function unspread(result: object): object {
  return JSON.parse(
    JSON.stringify(result)
      .replace(/(recheckAfterSeconds\\?":)\d+/g, "$1600")
      .replace(/Wait \d+ seconds/, "Wait 5 seconds"),
  );
}

describe.each(engines)("the tools on $name", (engine) => {
  let stage: Stage;
  let service: Service;

  beforeAll(async () => {
    ({ stage, service } = await lend(engine));
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "12.125");
  });
  afterAll(() => giveBack(service));

  const bearer = async (email: string) => ({ Authorization: `Bearer ${await service.token(email)}` });
  const detail = (code: ErrorCode) => {
    const { message, hint } = refusals[code];
    return { code, message, hint, docs: `${service.url}/docs/api/errors#${code}` };
  };
  const denied = (code: ErrorCode, status: string) => {
    const { message } = refusals[code];
    return { ok: false, status, message, error: detail(code) };
  };

  it("answer the account's entitlement and balance to its bearer token, as the HTTP API does", async () => {
    const headers = await bearer("ceo@example.com");
    const entitlement = await call(service, "get_entitlement", { headers });
    expect(entitlement.structuredContent).toEqual({
      ok: true,
      status: "licensed",
      recheckAfterSeconds: between(600, 900),
    });
    expect(entitlement).not.toHaveProperty("isError");
    const overHttp = await service.ask("/api/entitlement", { headers });
    expect(unspread(entitlement.content)).toEqual(unspread([{ type: "text", text: overHttp.text }]));
    const balance = await call(service, "get_credits_balance", { headers });
    expect(balance.structuredContent).toEqual({ credits: 12.125 });
  });

  it("refuse an account whose trial has ended with the body of the HTTP API", async () => {
    await service.adminJson("account", "add", "ended@example.com", "--trial-ends", "2026-01-01");
    const headers = await bearer("ended@example.com");
    const result = await call(service, "get_entitlement", { headers });
    expect(result).not.toHaveProperty("isError");
    expect(result.structuredContent).toEqual(denied("trial_ended", "trial-ended"));
    expect(result.content).toHaveLength(1);
  });

  it.each(["/mcp", "/api/mcp"])(
    "at %s that need an account are 401 without a good token: it says who lets in",
    async (path) => {
      const token = await service.token("ceo@example.com");
      const ended = await service.token("ceo@example.com");
      const { sid } = JSON.parse(Buffer.from(ended.split(".")[1] ?? "", "base64url").toString());
      await stage.query(`DELETE FROM local_sessions WHERE id = '${sid}'`);
      const metadata = `${service.url}/.well-known/oauth-protected-resource${path}`;
      const letIn = `resource_metadata="${metadata}", scope="account:read"`;
      const nothing = `Bearer realm="corner-office", ${letIn}`;
      const bad = `Bearer realm="corner-office", error="invalid_token", ${letIn}`;
      // The cookie is never looked at.
      const Cookie = `__session=${token}`;
      const attempts: [Record<string, string>, string][] = [
        [{}, nothing],
        [{ Cookie }, nothing],
        [{ Authorization: "Basic dXNlcjpwYXNz", Cookie }, nothing],
        [{ Authorization: "Bearer bad", Cookie }, bad],
        [{ Authorization: "Bearer", Cookie }, bad],
        [{ Authorization: `Bearer ${token}x` }, bad],
        [{ Authorization: `Bearer ${ended}` }, bad],
      ];
      for (const [headers, challenge] of attempts) {
        for (const name of ["get_entitlement", "get_credits_balance"]) {
          for (const send of [postLegacy, postModern]) {
            const answer = await send(service, { method: "tools/call", params: { name } }, { headers, path });
            expectRefusal(service, answer, { status: 401, code: "signed_out" });
            expect(answer.headers["www-authenticate"]).toBe(challenge);
            expectMcpStamp(service, answer);
            expect(answer.headers).toHaveProperty("ratelimit-remaining");
          }
        }
        for (const message of [
          { method: "tools/list" },
          { method: "tools/call", params: { name: "get_health", arguments: {} } },
          { method: "tools/call", params: { name: "get_doc", arguments: { path: "/docs" } } },
          { method: "resources/read", params: { uri: "corner-office://limits" } },
        ]) {
          for (const send of [postLegacy, postModern]) {
            const { status, text } = await send(service, message, { headers, path });
            expect(status, text).toBe(200);
            expect(JSON.parse(text).result, text).not.toHaveProperty("isError");
          }
        }
      }
      const found = JSON.parse((await service.ask(metadata.replace(service.url, ""))).text);
      expect(found).toMatchObject({ resource: service.url + path, authorization_servers: [service.url] });
    },
  );

  it("say that the account cannot be reached, never that nobody is signed in, and how long to wait", async () => {
    const headers = await bearer("ceo@example.com");
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    const entitlement = await call(service, "get_entitlement", { headers });
    const balance = await call(service, "get_credits_balance", { headers });
    const health = await call(service, "get_health", { headers });
    await stage.query("ALTER TABLE accounts_away RENAME TO accounts");
    expect(entitlement.isError).toBe(true);
    expect(entitlement.structuredContent).toEqual(denied("unavailable", "unavailable"));
    expect(entitlement.content[1]?.text).toMatch(/^Wait (?:[5-9]|[12]\d|30) seconds before you try again\.$/);
    expect(balance.isError).toBe(true);
    expect(JSON.parse(balance.content[0]?.text ?? "")).toEqual({ error: detail("balance_unavailable") });
    expect(health.structuredContent).toMatchObject({ ok: true });
    expect((await call(service, "get_entitlement", { headers })).structuredContent).toMatchObject({
      ok: true,
    });
    // One of each call.
    const errors: string[] = [];
    await eventually(() => {
      errors.push(...service.takeErrors());
      expect(errors).toEqual(Array(4).fill("an account could not be read"));
    });
  });
});

const listedTools = [
  { name: "get_health", title: "Service health", readsAccount: false },
  { name: "get_site_banner", title: "Site banner", readsAccount: false },
  { name: "get_entitlement", title: "Entitlement of the account", readsAccount: true },
  { name: "get_credits_balance", title: "Credit balance of the account", readsAccount: true },
  { name: "search_docs", title: "Search the documents", readsAccount: false },
  { name: "get_doc", title: "Read a document", readsAccount: false, answersText: true },
];

describe("the tools", () => {
  let service: Service;
  beforeEach(async () => {
    service = await unconfigured();
  });

  it("say so where sign-in is not set up, with a token and without", async () => {
    for (const headers of [{}, { Authorization: "Bearer x" }]) {
      const entitlement = await call(service, "get_entitlement", { headers });
      expect(entitlement.isError).toBe(true);
      expect(entitlement.structuredContent).toMatchObject({ status: "unconfigured" });
      const balance = await call(service, "get_credits_balance", { headers });
      expect(balance.isError).toBe(true);
      expect(balance.content[0]?.text).toContain('"code":"balance_unavailable"');
    }
  });

  it("answer what the health check answers", async () => {
    const { structuredContent } = await call(service, "get_health");
    expect(structuredContent).toEqual(JSON.parse((await service.ask("/api/health")).text));
  });

  it("find a document by its words, best first, and read it whole", async () => {
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
    for (const asked of [path, url]) {
      const read = await call(service, "get_doc", { arguments: { path: asked } });
      expect(read.content).toHaveLength(1);
      expect(read).not.toHaveProperty("structuredContent");
      expect(read.content[0]?.text).toMatch(/^## /);
    }
    const whole = await call(service, "get_doc", { arguments: { path: "/docs/api/limits" } });
    expect(whole.content[0]?.text).toMatch(/^# Limits\n/);
    const one = await call(service, "search_docs", { arguments: { query: "limits", limit: 1 } });
    expect((one.structuredContent as { results: unknown[] }).results).toHaveLength(1);
    const none = await call(service, "search_docs", { arguments: { query: "zebra crossing" } });
    const hint = expect.stringContaining("Nothing here speaks of that.");
    expect(none.structuredContent).toEqual({ results: [], hint });
  });

  it("read a long document from its beginning, and say where each other section is", async () => {
    const read = async (path: string) =>
      (await call(service, "get_doc", { arguments: { path } })).content[0]?.text ?? "";
    const readAll = async (path: string): Promise<string> => {
      const text = await read(path);
      const [, rest] = /\n\(This is the beginning\. Read the rest by section: (.+)\.\)\n$/.exec(text) ?? [];
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

  it("refuse a document that is not there with the fields of an ApiError", async () => {
    for (const path of ["/docs/nothing", "/etc/passwd", "https://evil.example/docs/api/limits"]) {
      const result = await call(service, "get_doc", { arguments: { path } });
      expect(result.isError).toBe(true);
      expect(result).not.toHaveProperty("structuredContent");
      expect(JSON.parse(result.content[0]?.text ?? "")).toEqual({
        error: {
          code: "not_found",
          message: "There is no document with this path.",
          hint: "Take a path from search_docs, or from the list of resources.",
          docs: `${service.url}/docs/api/errors#not_found`,
        },
      });
    }
    const noSection = await call(service, "get_doc", { arguments: { path: "/docs/api/limits#nothing" } });
    expect(noSection.isError).toBe(true);
    expect(noSection.content[0]?.text).toContain("/docs/api/limits#headers");
  });

  it("are all told of in the document about MCP", () => {
    const told = findDocument("/docs/mcp")?.markdown() ?? "";
    for (const { name, readsAccount } of listedTools) {
      const row = told.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${name}\``));
      expect(row?.includes("a token"), name).toBe(readsAccount);
    }
  });

  it("are listed in one order, each with a title, both schemas, and as changing nothing", async () => {
    const { result } = JSON.parse(
      (await postLegacy(service, { method: "tools/list" }, { from: newAddress() })).text,
    );
    expect(result.tools).toHaveLength(listedTools.length);
    for (const [n, { name, title, readsAccount, answersText }] of listedTools.entries()) {
      const listed = result.tools[n];
      expect(listed).toMatchObject({
        name,
        title,
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
      expect(listed.description.includes("Needs a bearer token")).toBe(readsAccount);
      expect(
        JSON.stringify(listed.outputSchema ?? {}),
        "clients ignore fields that they do not know",
      ).not.toContain("additionalProperties");
    }
    expect(JSON.stringify(result).length, "a model pays for every word").toBeLessThan(7000);
  });
});
