import { beforeAll, describe, expect, it, vi } from "vitest";
import { to } from "@/lib/docs/markdown";
import { mcpEndpoint } from "@/lib/mcp/handler";
import { createMcpServer } from "@/lib/mcp/server";
import { tools } from "@/lib/mcp/tools";
import { createFolder } from "@/tests/support/leash";

const createServer = vi.fn(createMcpServer);
const { POST } = mcpEndpoint("/mcp", createServer);

beforeAll(() => {
  vi.stubEnv("APP_URL", "https://office.example.com");
  vi.stubEnv("DATA_DIR", createFolder());
  vi.stubEnv("SIGN_IN", "none");
  vi.stubEnv("RATE_LIMIT_MCP", "1000");
});

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};
const json = { host: "office.example.com", "content-type": "application/json" };

type Call = { name: string; arguments?: object; _meta?: object };

async function send(params: object, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: "a-1", method: "tools/call", params });
  createServer.mockClear();
  const answer = await POST(
    new Request("https://office.example.com/mcp", { method: "POST", headers: { ...json, ...headers }, body }),
  );
  const byLibrary = createServer.mock.calls.length > 0;
  return { status: answer.status, text: await answer.text(), byLibrary };
}

/** Sends a call in each protocol version, as is and in an equivalent form that is left to the library. */
const versions = {
  "an earlier version": {
    plain: (call: Call) => send(call),
    unusual: (call: Call) => send({ ...call, more: 1 }),
  },
  "2026-07-28": {
    plain: (call: Call) => sendModern(call, call.name),
    unusual: (call: Call) => sendModern(call, `=?base64?${Buffer.from(call.name).toString("base64")}?=`),
  },
};

function sendModern(call: Call, name: string) {
  const repeated = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
  return send({ ...call, _meta: { ...call._meta, ...meta } }, repeated);
}

const calls: Call[] = [
  { name: "get_health" },
  { name: "get_health", arguments: {} },
  { name: "get_health", _meta: { progressToken: 7, "example.com/own": true } },
  { name: "get_site_banner" },
  { name: "search_docs", arguments: { query: "entitlement" } },
  { name: "search_docs", arguments: { query: "entitlement", limit: 1 } },
  { name: "search_docs", arguments: { query: "zzzzzz" } },
  { name: "get_doc", arguments: { path: to.limits } },
  { name: "get_doc", arguments: { path: "/docs/nowhere" } },
  { name: "search", arguments: { query: "entitlement" } },
  { name: "fetch", arguments: { id: to.limits } },
  { name: "fetch", arguments: { id: "/docs/nowhere" } },
  { name: "get_entitlement" },
  { name: "get_credits_balance" },
];

describe.each(Object.entries(versions))("a tool call in %s", (_, { plain, unusual }) => {
  it.each(calls)("has exactly the response of the library: %j", async (call) => {
    const [ours, expected] = [await plain(call), await unusual(call)];
    expect([ours.byLibrary, expected.byLibrary]).toEqual([false, true]);
    expect(ours.text).toBe(expected.text);
    expect(ours.status).toBe(200);
  });

  it.each([
    { name: "search_docs", arguments: { query: "limits", limit: 11 } },
    { name: "search_docs", arguments: { query: 7 } },
    { name: "get_nothing" },
  ])("is refused by the library if it is invalid: %j", async (call) => {
    const { text, byLibrary } = await plain(call);
    expect(byLibrary).toBe(true);
    expect(text).toMatch(/Input validation error|not found/);
  });
});

it("every tool is tested", () => {
  expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(tools.map(({ name }) => name)));
});

it("a call in 2026-07-28 whose headers do not match is refused", async () => {
  const repeated = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "get_health",
  };
  for (const missing of Object.keys(repeated)) {
    const { [missing as keyof typeof repeated]: _, ...headers } = repeated;
    const { status, text } = await send({ name: "get_health", _meta: meta }, headers);
    expect([status, JSON.parse(text).error.code], missing).toEqual([400, -32020]);
  }
  const other = await send({ name: "get_health", _meta: meta }, { ...repeated, "mcp-name": "get_doc" });
  expect(JSON.parse(other.text).error.code).toBe(-32020);
});

describe("the metadata of a client", () => {
  const call = { name: "get_health", _meta: { "example.com/client": "one" } };

  it("is validated again by neither valid nor invalid calls", async () => {
    for (const odd of [
      { arguments: [7] },
      { arguments: 7 },
      { _meta: { ...call._meta, progressToken: {} } },
    ]) {
      const { text } = await send({ ...call, ...odd });
      expect(JSON.parse(text), JSON.stringify(odd)).toHaveProperty("error");
    }
    for (const progressToken of [1, "two", undefined]) {
      const { status, byLibrary } = await send({ ...call, _meta: { ...call._meta, progressToken } });
      expect([status, byLibrary]).toEqual([200, false]);
    }
  });

  it("is validated again if the version in the headers changes", async () => {
    expect((await send(call)).byLibrary).toBe(false);
    expect((await send(call, { "mcp-protocol-version": "2020-01-01" })).status).toBe(400);
    expect((await send(call, { "mcp-protocol-version": "2026-07-28" })).status).toBe(400);
    expect((await send(call, { "mcp-protocol-version": "2025-11-25" })).status).toBe(200);
  });
});
