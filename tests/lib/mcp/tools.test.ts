import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ErrorCode, errorCatalogue } from "@/lib/api/errors";
import { findDocument } from "@/lib/docs/documents";
import { tools } from "@/lib/mcp/tools";
import { between, expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { expectMcpStamp, postLegacy, postModern } from "@/tests/support/mcp";
import { Service } from "@/tests/support/service";

type Result = { isError?: boolean; structuredContent?: unknown; content: { type: string; text: string }[] };

/** Calls a tool in both eras, which must agree, and answers its result. */
async function call(
  service: Service,
  name: string,
  { arguments: input = {}, headers = {} }: { arguments?: object; headers?: Record<string, string> } = {},
): Promise<Result> {
  const message = { method: "tools/call", params: { name, arguments: input } };
  const legacy = await postLegacy(service, message, { headers });
  const modern = await postModern(service, message, { headers });
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

const raised = { RATE_LIMIT_MCP: "100000" };

describe.each(engines)("the tools on $name", (engine) => {
  let stage: Stage;
  let service: Service;

  beforeAll(async () => {
    stage = await engine.prepare();
    service = await Service.start({ ...stage.environment, ...raised });
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "12.125");
  });
  afterAll(async () => {
    await service.stop({ expectErrors: true });
    await stage.clear();
  });

  const bearer = async (email: string) => ({ Authorization: `Bearer ${await service.token(email)}` });
  const detail = (code: ErrorCode) => {
    const { message, hint } = errorCatalogue[code];
    return { code, message, hint, docs: `${service.url}/docs/api/errors#${code}` };
  };
  const denied = (code: ErrorCode, status: string) => {
    const { message } = errorCatalogue[code];
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
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toEqual(denied("trial_ended", "trial-ended"));
    expect(result.content).toHaveLength(1);
  });

  it("say that nobody is signed in when no token is sent, and never look at the cookie", async () => {
    const Cookie = `__session=${await service.token("ceo@example.com")}`;
    for (const headers of [{}, { Cookie }, { Authorization: "Basic dXNlcjpwYXNz" }]) {
      const entitlement = await call(service, "get_entitlement", { headers });
      expect(entitlement).toMatchObject({
        isError: true,
        structuredContent: denied("signed_out", "signed-out"),
      });
      const balance = await call(service, "get_credits_balance", { headers });
      expect(balance).toMatchObject({ isError: true, structuredContent: { error: detail("signed_out") } });
    }
  });

  it("are not reached with a bad token, whatever is asked: 401 with a challenge", async () => {
    const Cookie = `__session=${await service.token("ceo@example.com")}`;
    const ended = await service.token("ceo@example.com");
    const { sid } = JSON.parse(Buffer.from(ended.split(".")[1] ?? "", "base64url").toString());
    await stage.query(`DELETE FROM local_sessions WHERE id = '${sid}'`);
    for (const Authorization of ["Bearer bad", "bearer", `Bearer ${ended}`]) {
      for (const message of [
        { method: "tools/list" },
        { method: "tools/call", params: { name: "get_health" } },
        { method: "tools/call", params: { name: "get_credits_balance" } },
      ]) {
        for (const send of [postLegacy, postModern]) {
          const answer = await send(service, message, { headers: { Authorization, Cookie } });
          expectRefusal(service, answer, { status: 401, code: "signed_out" });
          expect(answer.headers["www-authenticate"]).toBe(
            'Bearer realm="corner-office", error="invalid_token"',
          );
          expectMcpStamp(service, answer);
          expect(answer.headers).toHaveProperty("ratelimit-remaining");
        }
      }
    }
  });

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
    expect(balance.structuredContent).toEqual({ error: detail("balance_unavailable") });
    expect(health.structuredContent).toMatchObject({ ok: true });
    expect((await call(service, "get_entitlement", { headers })).structuredContent).toMatchObject({
      ok: true,
    });
  });

  it("answer the banner that shows", async () => {
    const fresh = await Service.start({ ...stage.environment, ...raised });
    await fresh.adminJson("banner", "set", "warning", "Repairs at <noon>");
    const banner = { kind: "warning", message: "Repairs at <noon>" };
    // A notice waits for no store, so it may not be there at first.
    await eventually(async () =>
      expect((await call(fresh, "get_site_banner")).structuredContent).toEqual({ banner }),
    );
    await fresh.adminJson("banner", "clear");
    await fresh.stop();
  });
});

describe("the tools", () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ ...raised, SIGN_IN: "none" });
  });
  afterAll(() => service.stop());

  it("say so where sign-in is not set up, with a token and without", async () => {
    for (const headers of [{}, { Authorization: "Bearer x" }]) {
      const entitlement = await call(service, "get_entitlement", { headers });
      expect(entitlement.isError).toBe(true);
      expect(entitlement.structuredContent).toMatchObject({ status: "unconfigured" });
      const balance = await call(service, "get_credits_balance", { headers });
      expect(balance.structuredContent).toMatchObject({ error: { code: "balance_unavailable" } });
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
    for (const asked of [path, url, "/docs/api/limits"]) {
      const read = (await call(service, "get_doc", { arguments: { path: asked } })).structuredContent;
      expect(read).toMatchObject({ path: "/docs/api/limits", url: `${service.url}/docs/api/limits` });
      expect((read as { markdown: string }).markdown).toMatch(/^# Limits\n/);
    }
    const one = await call(service, "search_docs", { arguments: { query: "limits", limit: 1 } });
    expect((one.structuredContent as { results: unknown[] }).results).toHaveLength(1);
    const none = await call(service, "search_docs", { arguments: { query: "zebra crossing" } });
    expect(none.structuredContent).toEqual({ results: [] });
  });

  it("serve clients that know search and fetch alone", async () => {
    const found = await call(service, "search", { arguments: { query: "error codes" } });
    const { results } = found.structuredContent as { results: { id: string; title: string; url: string }[] };
    expect(found.content).toHaveLength(1);
    expect(Object.keys(results[0] ?? {}).sort()).toEqual(["id", "title", "url"]);
    const fetched = await call(service, "fetch", { arguments: { id: results[0]?.id } });
    expect(fetched.content).toHaveLength(1);
    expect(Object.keys(fetched.structuredContent as object).sort()).toEqual(
      ["id", "metadata", "text", "title", "url"], //
    );
  });

  it("refuse a document that is not there with the fields of an ApiError", async () => {
    for (const path of ["/docs/nothing", "/etc/passwd", "https://evil.example/docs/api/limits"]) {
      for (const [name, input] of [
        ["get_doc", { path }],
        ["fetch", { id: path }],
      ] as const) {
        const result = await call(service, name, { arguments: input });
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
    }
  });

  it("are all told of in the document about MCP", () => {
    const told = findDocument("/docs/mcp")?.markdown() ?? "";
    for (const { name, needsSession } of tools) {
      const row = told.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${name}\``));
      expect(row?.includes("a token"), name).toBe(needsSession);
    }
  });

  it("are listed in one order, each with a title, both schemas, and as changing nothing", async () => {
    const { result } = JSON.parse((await postLegacy(service, { method: "tools/list" })).text);
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([
      ...["get_health", "get_site_banner", "get_entitlement", "get_credits_balance"],
      ...["search_docs", "get_doc", "search", "fetch"],
    ]);
    for (const [n, listed] of result.tools.entries()) {
      const { title, description, needsSession } = tools[n] ?? {};
      expect(listed).toMatchObject({
        title,
        description,
        inputSchema: { type: "object", additionalProperties: false },
        outputSchema: { type: "object" },
        annotations: {
          title,
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      });
      expect(description?.includes("Needs a bearer token")).toBe(needsSession);
      expect(
        JSON.stringify(listed.outputSchema),
        "clients ignore fields that they do not know",
      ).not.toContain("additionalProperties");
    }
    expect(JSON.stringify(result).length, "a model pays for every word").toBeLessThan(10_000);
  });
});
