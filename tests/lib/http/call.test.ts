import { describe, expect, it } from "vitest";
import { files } from "@/lib/http/register/files";
import { operations } from "@/lib/http/register/operations";
import { borrowService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { postLegacy } from "@/tests/support/mcp";
import { Service } from "@/tests/support/service";

const { service } = await borrowService();

/** The line that the request with this id left in the log. */
const lineOf = (requestId: string) =>
  eventually(() => {
    const line = service.log.split("\n").find((text) => text.includes(`"requestId":"${requestId}"`));
    if (!line) throw new Error(`no line of ${requestId}`);
    return JSON.parse(line);
  });

describe("the log", () => {
  it("has one line a request, refusals and pages among them", async () => {
    const requests = [
      ["GET", operations.health.path, 200],
      ["GET", "/api/nothing", 404],
      ["DELETE", operations.health.path, 405],
      ["OPTIONS", operations.siteBanner.path, 204],
      ["GET", "/docs/api/errors", 200],
    ] as const;
    for (const [n, [method, path, status]] of requests.entries()) {
      const answer = await service.ask(`${path}?x=1`, { method, headers: { "X-Request-Id": `line-${n}` } });
      // Shared caches keep a document.
      expect(answer.headers["x-request-id"]).toBe(path === "/docs/api/errors" ? undefined : `line-${n}`);
      expect(await lineOf(`line-${n}`)).toEqual({
        level: "info",
        time: expect.any(Number),
        method,
        path: path === "/api/nothing" ? "/api/*" : path,
        status,
        ms: expect.any(Number),
        requestId: `line-${n}`,
      });
    }
    expect(service.log.match(/"requestId":"line-0"/g)).toHaveLength(1);
  });

  it("names the account of a session by a hash, the same each time", async () => {
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const { subject } = await service.adminJson("account", "show", "ceo@example.com");
    const headers = { Authorization: `Bearer ${await service.token("ceo@example.com")}` };
    for (const [n, { path }] of [operations.entitlement, operations.creditsBalance].entries()) {
      await service.ask(path, { headers: { ...headers, "X-Request-Id": `subject-${n}` } });
    }
    const [first, second] = [await lineOf("subject-0"), await lineOf("subject-1")];
    expect(first.subject).toMatch(/^[\w-]{12}$/);
    expect(second.subject).toBe(first.subject);
    expect(service.log).not.toContain(String(subject));
  });

  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const parent = "00f067aa0ba902b7";

  it.each([
    ["of version 00", `00-${trace}-${parent}-01`],
    ["of a later version", `01-${trace}-${parent}-01`],
    ["of a later version with more fields", `cc-${trace}-${parent}-01-what-comes-next`],
  ])("has the trace id of a traceparent %s, on the API and on pages", async (name, traceparent) => {
    for (const path of [operations.health.path, "/docs/api/errors", "/nothing", "/unsubscribe"]) {
      const id = `trace-${name.replaceAll(" ", "-")}${path.replaceAll("/", ".")}`;
      await service.ask(path, { headers: { "X-Request-Id": id, traceparent, tracestate: "vendor=hunter3" } });
      expect((await lineOf(id)).traceId, path).toBe(trace);
    }
    for (const text of [parent, "hunter3", "what-comes-next"]) expect(service.log).not.toContain(text);
  });

  it.each([
    ["of a traceparent in its _meta", `00-${trace}-${parent}-01`, {}, trace],
    [
      "of the header, if both are sent",
      `00-${"a".repeat(32)}-${parent}-01`,
      { traceparent: `00-${trace}-${parent}-01` },
      trace,
    ],
    ["none if that of its _meta is not valid", `00-${trace}-${parent}-01-more`, {}, undefined],
    ["none if that of its _meta is no text", [trace], {}, undefined],
  ])("of an MCP message has the trace id %s", async (name, traceparent, headers, traceId) => {
    const id = `mcp-${name.replaceAll(/\W+/g, "-")}`;
    await postLegacy(
      service,
      { method: "tools/call", params: { name: "get_health", _meta: { traceparent } } },
      { headers: { "X-Request-Id": id, ...headers } },
    );
    expect((await lineOf(id)).traceId).toBe(traceId);
  });

  it.each([
    ["a trace id of zeros", `00-${"0".repeat(32)}-${parent}-01`],
    ["a parent id of zeros", `00-${trace}-${"0".repeat(16)}-01`],
    ["the version that is none", `ff-${trace}-${parent}-01`],
    ["more fields than version 00 has", `00-${trace}-${parent}-01-more`],
    ["a short trace id", `00-${trace.slice(1)}-${parent}-01`],
    ["a letter that is no digit", `00-${trace.slice(1)}g-${parent}-01`],
    ["two values", `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`],
    ["a JSON escape", `01-${trace}-${parent}-01","level":"fatal`],
  ])("has no trace id if the traceparent has %s", async (name, traceparent) => {
    const id = `bad-${name.replaceAll(/[ ,]/g, "-")}`;
    const { status } = await service.ask(operations.health.path, {
      headers: { "X-Request-Id": id, traceparent },
    });
    expect(status).toBe(200);
    expect(await lineOf(id)).not.toHaveProperty("traceId");
  });

  it("has no trace id if there are two traceparent fields", async () => {
    const traceparent = [`00-${trace}-${parent}-01`, `00-${trace}-${parent}-01`];
    await service.ask(operations.health.path, { headers: { "X-Request-Id": "twice", traceparent } });
    expect(await lineOf("twice")).not.toHaveProperty("traceId");
  });

  it("names an address as its register does, and of any other no more than where it would be", async () => {
    const secret = "hunter2-hunter2";
    const expected = {
      [`/api/entitlement/${secret}`]: "/api/*",
      [`/mcp/${secret}`]: "/mcp/*",
      [`/hooks/${secret}`]: "/hooks/*",
      [`/docs/${secret}`]: "/docs/*",
      [`/unsubscribe/${secret}`]: "/*",
      [`//${secret}`]: "/*",
      [`/%1b[31m%0a${secret}`]: "/*",
      [`/connect?user_code=${secret}`]: "/connect",
    };
    for (const [n, [path, name]] of Object.entries(expected).entries()) {
      await service.ask(path, { headers: { "X-Request-Id": `name-${n}` } });
      expect((await lineOf(`name-${n}`)).path, path).toBe(name);
    }
    await service.send(`${secret} /api/health HTTP/1.1\r\nHost: x\r\n\r\n`);
    await eventually(() =>
      expect(service.log).toContain('"method":"other","path":"/api/health","status":405'),
    );
    expect(service.log).not.toContain(secret);
  });

  it("logs at debug the files that a page fetches", async () => {
    await service.ask(files.icon.path);
    await service.ask("/", { headers: { "X-Request-Id": "after-assets" } });
    await lineOf("after-assets");
    expect(service.log).not.toContain(files.icon.path);
  });

  it("writes no line below the log level", async () => {
    const quiet = await Service.start({ LOG_LEVEL: "warn" });
    await quiet.ask(operations.health.path);
    await quiet.stop();
    expect(quiet.log).toBe("");
  });
});
