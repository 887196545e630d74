import { describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { expectRefusal } from "@/tests/support/contract";
import { raised } from "@/tests/support/lent-service";
import {
  expectCounted,
  expectMcpStamp,
  expectRpcError,
  post,
  postLegacy,
  postModern,
} from "@/tests/support/mcp";
import { Service } from "@/tests/support/service";

const { mcp: limit } = raised;
const { service } = await borrowService();

const list = { method: "tools/list" };
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe.each(["/mcp", "/api/mcp"])("POST %s", (path) => {
  it("answers JSON with quota headers in every protocol version", async () => {
    for (const answer of [
      await postLegacy(service, list, { path }),
      await postModern(service, list, { path }),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.headers["content-type"]).toBe("application/json");
      expectMcpStamp(service, answer);
      expectCounted(answer, limit);
      expect(answer.headers).not.toHaveProperty("vary");
      expect(JSON.parse(answer.text).result.tools).toHaveLength(8);
    }
  });

  it("accepts initialize in every version that has it, and offers the newest of them otherwise", async () => {
    const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    for (const requested of [...revisions, "2026-07-28", "2099-01-01"]) {
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion: requested, capabilities: {}, clientInfo };
      const answer = await postLegacy(service, { method: "initialize", params }, { path });
      const { protocolVersion, capabilities, serverInfo } = JSON.parse(answer.text).result;
      expect(protocolVersion).toBe(revisions.includes(requested) ? requested : "2025-11-25");
      expect(capabilities).toEqual({
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      });
      expect(serverInfo).toMatchObject({ name: "corner-office", title: "Corner Office" });
      // github/github-mcp-server#1644, github/copilot-cli#486, anthropics/claude-ai-mcp#474
      expect(serverInfo).not.toHaveProperty("icons");
    }
  });

  // Effect-TS/effect#7388, xpzouying/xiaohongshu-mcp#697
  it.each(["2020-01-01", "2026-07-28", "2099-01-01", "DRAFT-2026-v1"])(
    "accepts initialize from a client whose header already names a version, %s",
    async (version) => {
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion: version, capabilities: {}, clientInfo };
      const headers = { "MCP-Protocol-Version": version };
      const answer = await postLegacy(service, { method: "initialize", params }, { path, headers });
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text).result.protocolVersion).toBe("2025-11-25");
    },
  );

  it("accepts a Content-Type that is sent twice, as httpx does with one in another case", async () => {
    const call = { method: "tools/call", params: { name: "get_health" } };
    for (const type of [
      "application/json, application/json",
      "application/json; charset=utf-8,application/json",
    ])
      for (const send of [postLegacy, postModern])
        for (const message of [list, call]) {
          const answer = await send(service, message, { path, headers: { "Content-Type": type } });
          expect([answer.status, JSON.parse(answer.text).error], type).toEqual([200, undefined]);
        }
  });

  // lowdefy/lowdefy#2345, different-ai/openwork#3944
  it("accepts a version that is sent twice, as Claude Code and some proxies do, and no two versions", async () => {
    const twice = { "MCP-Protocol-Version": "2025-11-25, 2025-11-25" };
    const call = { method: "tools/call", params: { name: "get_health" } };
    for (const message of [list, call, { method: "ping" }]) {
      const answer = await postLegacy(service, message, { path, headers: twice });
      expect([answer.status, JSON.parse(answer.text).error], message.method).toEqual([200, undefined]);
    }
    const modern = { "MCP-Protocol-Version": "2026-07-28,2026-07-28" };
    for (const message of [list, call])
      expect((await postModern(service, message, { path, headers: modern })).status).toBe(200);
    const two = { "MCP-Protocol-Version": "2025-11-25, 2025-06-18" };
    for (const message of [list, call])
      expect((await postLegacy(service, message, { path, headers: two })).status).toBe(400);
  });

  it("answers server/discover in 2026-07-28", async () => {
    const { result } = JSON.parse((await postModern(service, { method: "server/discover" }, { path })).text);
    expect(result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      ttlMs: 300_000,
      cacheScope: "public",
    });
    expect(result.instructions).toContain("cannot make an assistant send, publish, deploy or charge");
    expect(result.instructions).toContain("Never put a token into a chat, an issue or a log");
  });

  it("answers 202 without a body to a notification or a client's response", async () => {
    const sent = [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":7,"result":{}}',
    ];
    for (const body of sent) {
      const answer = await post(service, body, { path });
      expect(answer).toMatchObject({ status: 202, text: "" });
      expect(answer.headers["content-length"]).toBe("0");
      expectMcpStamp(service, answer);
      expectCounted(answer, limit);
    }
  });

  it.each([undefined, "application/json", "application/json, text/event-stream"])(
    "answers JSON to Accept: %s",
    async (accept) => {
      const headers: Record<string, string> = accept ? { Accept: accept } : {};
      for (const send of [postLegacy, postModern]) {
        const answer = await send(service, list, { path, headers });
        expect(answer.status).toBe(200);
        expect(answer.headers["content-type"]).toBe("application/json");
      }
    },
  );

  it("ignores API-Version and a session id, and accepts a Content-Type with a charset", async () => {
    const headers = {
      "API-Version": "2",
      "Mcp-Session-Id": "made-up",
      "Content-Type": "application/json; charset=utf-8",
    };
    expect((await postLegacy(service, list, { path, headers })).status).toBe(200);
    expect((await postModern(service, list, { path, headers })).status).toBe(200);
  });
});

describe("an invalid message", () => {
  const parseError = { status: 400, code: -32700, message: "Parse error: the body is not JSON", id: null };
  const notRpc = "Invalid Request: the body is not a JSON-RPC 2.0 message";
  const noBatch = "Invalid Request: batches are not accepted, send one message at a time";

  it.each([
    ["invalid JSON", "{", parseError],
    ["an empty body", "", parseError],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22]), parseError],
    ["no JSON-RPC", '{"hello":1}', { status: 400, code: -32600, message: notRpc, id: null }],
    ["a bare value", "null", { status: 400, code: -32600, message: notRpc, id: null }],
    [
      "another version of JSON-RPC",
      '{"jsonrpc":"1.0","id":"a","method":"ping"}',
      { status: 400, code: -32600, message: notRpc, id: "a" },
    ],
    [
      "an id of null",
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
      { status: 400, code: -32600, message: notRpc, id: null },
    ],
    ["a batch", `[${ping}]`, { status: 400, code: -32600, message: noBatch, id: null }],
    ["an empty batch", "[]", { status: 400, code: -32600, message: noBatch, id: null }],
  ])("is refused: %s", async (_, body, expected) => {
    const answer = await post(service, body);
    expectRpcError(answer, expected);
    expectMcpStamp(service, answer);
    expectCounted(answer, limit);
  });

  it.each([
    ...["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""],
    ...["application/json, text/plain", "text/plain, application/json"],
  ])("is refused with 415 if its Content-Type is %j", async (type) => {
    const answer = await post(service, ping, { headers: { "Content-Type": type } });
    expectRefusal(service, answer, {
      status: 415,
      code: "invalid_request",
      message: "The Content-Type of the body is not application/json.",
      hint: "Send one JSON-RPC message as 'Content-Type: application/json'.",
    });
    expectMcpStamp(service, answer);
    expectCounted(answer, limit);
  });

  it.each(["", "text/plain", "application/x-www-form-urlencoded", "application/json"])(
    "is first asked for a token where each message needs one, if its Content-Type is %j",
    async (type) => {
      for (const body of ["", ping]) {
        const path = "/mcp/account";
        const { status, headers } = await post(service, body, { path, headers: { "Content-Type": type } });
        expect(status).toBe(401);
        expect(headers["www-authenticate"]).toContain(
          `resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp/account"`,
        );
      }
    },
  );

  it("is refused with 413 if it is over 64 KiB", async () => {
    const pad = (bytes: number) => ping.padEnd(bytes, " ");
    expect((await post(service, pad(64 * 1024))).status).toBe(200);
    const answer = await post(service, pad(64 * 1024 + 1));
    const message = "The body is over 64 KiB.";
    expectRefusal(service, answer, { status: 413, code: "too_large", message });
    expectMcpStamp(service, answer);
    expectCounted(answer, limit);
  });

  const tooLarge =
    "Invalid Request: the message is nested more than 100 levels deep or has more than 1000 values";

  it("is an error if it has more than a thousand values, before the library validates them", async () => {
    const search = (count: number) => {
      const others = Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 0]));
      return JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "search_docs", arguments: others },
      });
    };
    const around = 7; // the message and its six other values
    const [most, more] = [search(1000 - around), search(1001 - around)];
    expectRpcError(await post(service, more), { status: 400, code: -32600, message: tooLarge });
    expect((await post(service, most)).status).toBe(200);
  });

  it.each([6000, 30_000])("is an error if it is nested %i deep, wherever that is", async (depth) => {
    const deep = "[".repeat(depth) + "]".repeat(depth);
    const object = `${'{"a":'.repeat(depth / 5)}1${"}".repeat(depth / 5)}`;
    const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    const health = '"name":"get_health"';
    for (const body of [
      call(`{${health},"arguments":{"x":${deep}}}`),
      call(`{${health},"arguments":${object}}`),
      call(`{${health},"_meta":{"x":${deep}}}`),
      call(`{${health},"_meta":${object}}`),
      call(deep),
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"x":${deep}}}}`,
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":${object}}}`,
      `{"jsonrpc":"2.0","id":1,"result":${deep}}`,
    ])
      for (const headers of [{}, { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call" }])
        expectRpcError(await post(service, body, { headers }), {
          status: 400,
          code: -32600,
          message: tooLarge,
        });
    expectRpcError(await post(service, deep), { status: 400, code: -32600, id: null });
    expectRpcError(await post(service, `{"id":${deep}}`), { status: 400, code: -32600, id: null });
    expect((await post(service, ping)).status).toBe(200);
  });

  it("may be nested 100 deep", async () => {
    const _meta = JSON.parse(`${'{"a":'.repeat(97)}1${"}".repeat(97)}`);
    expect((await postLegacy(service, { ...list, params: { _meta } })).status).toBe(200);
  });

  // elgorro/aiquila#442, modelcontextprotocol/php-sdk#284, afrise/MCPSharp#6
  it("may have [] for an empty object, as clients in PHP write it", async () => {
    const clientInfo = { name: "test", version: "1", icons: [] };
    const asked = { protocolVersion: "2025-06-18", clientInfo };
    for (const body of [
      { method: "initialize", params: { ...asked, capabilities: [] } },
      { method: "initialize", params: { ...asked, capabilities: { roots: [], experimental: [] } } },
      { method: "notifications/initialized", params: [], id: undefined },
      { method: "tools/list", params: [] },
      { method: "tools/call", params: { name: "get_health", arguments: [], _meta: [] } },
    ]) {
      const { status, text } = await post(service, JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }));
      if ("id" in body) expect([status, text]).toEqual([202, ""]);
      else expect([status, JSON.parse(text).error], text).toEqual([200, undefined]);
    }
    for (const more of [{ arguments: [1] }, { arguments: "" }]) {
      const params = { name: "get_health", ...more };
      expectRpcError(await postLegacy(service, { method: "tools/call", params }), {
        status: 200,
        code: -32602,
      });
    }
  });

  it("may have null for what it leaves out, as clients in Go, Java and C# write it", async () => {
    const nothing = { arguments: null, _meta: null };
    for (const body of [
      { method: "tools/call", params: { name: "get_health", ...nothing } },
      { method: "tools/call", params: { name: "search_docs", arguments: { query: "limits", limit: null } } },
      { method: "prompts/get", params: { name: "may_my_company_run", ...nothing } },
      { method: "tools/list", params: null },
      { method: "tools/list", params: { cursor: null } },
      { method: "tools/list", params: { _meta: { progressToken: null } } },
      {
        method: "initialize",
        params: {
          protocolVersion: "2025-06-18",
          capabilities: { roots: null, elicitation: { form: null } },
          clientInfo: { name: "test", version: "1", title: null, icons: null, websiteUrl: null },
        },
      },
      { method: "ping", params: null },
    ]) {
      const { status, text } = await post(service, JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }));
      expect([status, JSON.parse(text).error], text).toEqual([200, undefined]);
      expect(JSON.parse(text).result.isError, text).toBeUndefined();
    }
    const modern = { method: "tools/call", params: { name: "get_health", arguments: null } };
    expect(JSON.parse((await postModern(service, modern)).text).result.isError).toBeUndefined();
    const params = { name: "search_docs", arguments: { query: null } };
    const missing = await postLegacy(service, { method: "tools/call", params });
    expect(JSON.parse(missing.text).result.isError).toBe(true);
    expectRpcError(await post(service, '{"jsonrpc":"2.0","id":null,"method":"ping"}'), {
      status: 400,
      code: -32600,
      id: null,
    });
  });
});

describe("an error", () => {
  it("for an unknown method is -32601, with 404 in 2026-07-28", async () => {
    const expected = { code: -32601, message: "Method not found" };
    expectRpcError(await postLegacy(service, { method: "tools/destroy" }), { status: 200, ...expected });
    expectRpcError(await postModern(service, { method: "tools/destroy" }), { status: 404, ...expected });
    expectRpcError(await postModern(service, { method: "initialize" }), { status: 404, ...expected });
    for (const method of ["logging/setLevel", "completion/complete", "resources/subscribe"]) {
      expectRpcError(await postLegacy(service, { method }), { status: 200, code: -32601 });
    }
  });

  it.each([postLegacy, postModern])("for an unknown tool or resource is -32602", async (send) => {
    for (const name of ["send_mail", "constructor", "__proto__", "toString"]) {
      expectRpcError(await send(service, { method: "tools/call", params: { name } }), {
        status: 200,
        code: -32602,
      });
    }
    for (const uri of ["corner-office://nothing", "file:///etc/passwd", "not a uri"]) {
      const error = expectRpcError(await send(service, { method: "resources/read", params: { uri } }), {
        status: 200,
        code: -32602,
      });
      expect(error.data).toMatchObject({ uri });
    }
  });

  it.each([postLegacy, postModern])("for its arguments is an isError that names them", async (send) => {
    const wrong = [
      { name: "search_docs", arguments: {}, says: "query" },
      { name: "search_docs", arguments: { query: "x" }, says: "2" },
      { name: "search_docs", arguments: { query: "limits", limit: 11 }, says: "limit" },
      { name: "search_docs", arguments: { query: "x".repeat(201) }, says: "200" },
      { name: "get_doc", arguments: { path: 7 }, says: "path" },
    ];
    for (const { says, ...params } of wrong) {
      const answer = await send(service, { method: "tools/call", params });
      const { result } = JSON.parse(answer.text);
      expect(result.isError, answer.text).toBe(true);
      expect(result.content[0].text).toMatch(/^Input validation error: /);
      expect(result.content[0].text).toContain(says);
      expect(result).not.toHaveProperty("structuredContent");
    }
  });

  // n8n-io/n8n#21500, #21716 and #37308, simonx1/ruby-mcp-client#179
  it.each([postLegacy, postModern])(
    "is not sent for arguments that a client adds to a call",
    async (send) => {
      const added = { toolCallId: "call_1", sessionId: "s", _meta: { progressToken: 1 } };
      for (const [name, own] of [
        ["get_health", {}],
        ["search_docs", { query: "entitlement", limit: 1 }],
      ] as const) {
        const params = { name, arguments: { ...own, ...added } };
        const [more, plain] = [
          await send(service, { method: "tools/call", params }),
          await send(service, { method: "tools/call", params: { name, arguments: own } }),
        ];
        expect(JSON.parse(more.text).result.isError, more.text).toBeUndefined();
        expect(more.text).toBe(plain.text);
      }
    },
  );

  // anthropics/claude-code#32524, OpenHands/software-agent-sdk#1085
  it.each([postLegacy, postModern])("is not sent for a number that a client sends as text", async (send) => {
    const search = async (limit: unknown) => {
      const params = { name: "search_docs", arguments: { query: "entitlement", limit } };
      return JSON.parse((await send(service, { method: "tools/call", params })).text).result;
    };
    expect(await search("2")).toEqual(await search(2));
    for (const wrong of ["two", "2.5", "11", "", {}]) expect((await search(wrong)).isError).toBe(true);
  });

  it.each([
    [
      "initialize",
      undefined,
      "'protocolVersion' is missing; 'capabilities' is missing; 'clientInfo' is missing",
    ],
    ["resources/read", undefined, "'uri' is missing"],
    ["tools/list", { cursor: 7 }, "'cursor' must be a string"],
    ["tools/call", { arguments: {} }, "'name' is missing"],
    ["tools/call", { name: "get_health", arguments: 7 }, "'arguments' must be an object"],
    ["tools/call", { name: "toString" }, "there is no toString"],
    ["prompts/get", { name: "constructor" }, "there is no constructor"],
  ])("for the params of %s is a readable -32602: %j", async (method, params, words) => {
    for (const send of method === "initialize" ? [postLegacy] : [postLegacy, postModern]) {
      const answer = await send(service, { method, ...(params && { params }) });
      const { message } = expectRpcError(answer, { status: 200, code: -32602 });
      expect(message).toContain(`Invalid params: ${words}`);
      expect(message).not.toMatch(/[[\]{}]|invalid_type/);
    }
  });

  it("for headers that do not match the body is 400 -32020", async () => {
    const call = { method: "tools/call", params: { name: "get_health" } };
    for (const headers of [{ "Mcp-Method": "tools/list" }, { "Mcp-Name": "get_doc" }, { "Mcp-Name": "" }]) {
      expectRpcError(await postModern(service, call, { headers }), { status: 400, code: -32020 });
    }
    const base64 = `=?base64?${Buffer.from("get_health").toString("base64")}?=`;
    expect((await postModern(service, call, { headers: { "Mcp-Name": base64 } })).status).toBe(200);
  });

  it("for an unknown version is 400: -32022 with the supported ones, or -32000 in the earlier versions", async () => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2099-01-01",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const headers = { "MCP-Protocol-Version": "2099-01-01" };
    const modern = await postModern(service, { ...list, params: { _meta: meta } }, { headers });
    const { data } = expectRpcError(modern, { status: 400, code: -32022 });
    expect(data).toEqual({ supported: ["2026-07-28"], requested: "2099-01-01" });
    const legacy = await postLegacy(service, list, { headers: { "MCP-Protocol-Version": "2020-01-01" } });
    expectRpcError(legacy, { status: 400, code: -32000, id: null });
  });

  it("is not sent for a subscription, which ends at once because nothing changes", async () => {
    const params = { notifications: { toolsListChanged: true } };
    const answer = await postModern(service, { method: "subscriptions/listen", params });
    expect(answer.status).toBe(200);
  });
});

describe("hosts and origins", () => {
  const foreignHost = {
    status: 403,
    code: "forbidden",
    message: "The Host of the request is not this service.",
  } as const;
  const foreignOrigin = {
    status: 403,
    code: "forbidden",
    message: "A page on another origin may not call a loopback address.",
    hint: "Open the page from a loopback address too, or call the service by its public name.",
  } as const;
  const ask = (to: Service, headers: Record<string, string>) => post(to, ping, { headers });

  it("a local service accepts loopback hosts and pages on loopback addresses", async () => {
    const hint = `Send the request to ${service.url}.`;
    for (const Host of ["localhost", "localhost:1", "127.0.0.1", "127.8.9.1:80", "[::1]:80"]) {
      expect((await ask(service, { Host })).status, Host).toBe(200);
    }
    for (const Host of ["evil.example", "localhost.evil.example", "0.0.0.0", "192.168.1.9"]) {
      const answer = await ask(service, { Host });
      expectRefusal(service, answer, { ...foreignHost, hint });
      expectMcpStamp(service, answer);
      expect(answer.headers, "it is not counted").not.toHaveProperty("ratelimit");
    }
    // The last is what Ruby's ruby_llm-mcp sends: the whole address that it calls.
    const local = ["http://localhost:5173", "http://127.0.0.1", "https://[::1]:8443", `${service.url}/mcp`];
    for (const Origin of local) {
      expect((await ask(service, { Origin })).status, Origin).toBe(200);
    }
    for (const Origin of [
      "https://evil.example",
      "https://evil.example/localhost",
      "http://localhost.evil.example",
      "null",
      "",
      "file://",
    ]) {
      const answer = await ask(service, { Origin });
      expectRefusal(service, answer, foreignOrigin);
      expectMcpStamp(service, answer);
    }
  });

  it("a public service accepts its own host, and pages on any origin", async () => {
    const behindTls = await Service.start({ APP_URL: "https://office.example.com" });
    const Host = "office.example.com";
    for (const Origin of ["https://office.example.com", "https://elsewhere.example", "null"]) {
      expect((await ask(behindTls, { Host, Origin })).status, Origin).toBe(200);
    }
    expect((await ask(behindTls, { Host: "OFFICE.example.com:443" })).status).toBe(200);
    // Clients keep the dot of a name that is written in full: istio/istio#18904, vitejs/vite#22233.
    for (const full of ["office.example.com.", "office.example.com.:443"])
      expect((await ask(behindTls, { Host: full })).status, full).toBe(200);
    const hint = "Send the request to https://office.example.com.";
    expectRefusal(behindTls, await ask(behindTls, { Host: "evil.example" }), { ...foreignHost, hint });
    const rebound = { Host: "localhost", Origin: "https://office.example.com" };
    expectRefusal(behindTls, await ask(behindTls, rebound), foreignOrigin);
    await behindTls.stop();
  });

  // PrefectHQ/fastmcp#4468
  it("a service behind a proxy that sends its own name for it goes by X-Forwarded-Host", async () => {
    const APP_URL = "https://office.example.com";
    const trusting = await Service.start({ APP_URL, TRUSTED_PROXY_HOPS: "1" });
    const Origin = "https://elsewhere.example";
    for (const Host of ["upstream", "office.azurewebsites.net", "127.0.0.1:3000"])
      for (const named of ["office.example.com", "OFFICE.example.com:443,upstream"])
        expect((await ask(trusting, { Host, Origin, "X-Forwarded-Host": named })).status, Host).toBe(200);
    const hint = `Send the request to ${APP_URL}. A proxy before it has to pass Host on, or X-Forwarded-Host.`;
    for (const named of ["evil.example", "evil.example,office.example.com", ""])
      expectRefusal(trusting, await ask(trusting, { Host: "upstream", "X-Forwarded-Host": named }), {
        ...foreignHost,
        hint,
      });
    await trusting.stop();
    for (const [environment, name] of [
      [{ APP_URL }, "office.example.com"],
      [{ TRUSTED_PROXY_HOPS: "1" }, "localhost"],
    ] as const) {
      const other = await Service.start(environment);
      const claimed = { Host: "evil.example", Origin: "http://evil.example", "X-Forwarded-Host": name };
      expect((await ask(other, claimed)).status, name).toBe(403);
      await other.stop();
    }
  });
});

describe.each(["/mcp", "/api/mcp", "/mcp/account"])("another method at %s", (path) => {
  it("OPTIONS answers a preflight and is not counted", async () => {
    const headers = { Origin: "http://localhost:5173", "Access-Control-Request-Method": "POST" };
    const answer = await service.ask(path, { method: "OPTIONS", headers });
    expect(answer).toMatchObject({ status: 204, text: "" });
    expectMcpStamp(service, answer);
    expect(answer.headers.allow).toBe("POST, OPTIONS");
    expect(answer.headers["access-control-allow-methods"]).toBe("POST, OPTIONS");
    expect(answer.headers["access-control-allow-headers"]).toBe(
      [
        "Authorization, DPoP, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
        "Last-Event-ID, API-Version, X-Request-Id, traceparent, tracestate, baggage",
      ].join(", "),
    );
    expect(answer.headers).not.toHaveProperty("ratelimit");
  });
});
