import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Address, mcpServer, operations } from "@/lib/api/operations";
import { connectionLimits } from "@/lib/settings/limits";
import { expectRefusal, expectStamp } from "@/tests/support/contract";
import { Service } from "@/tests/support/service";

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const refusedMethods = ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "QUERY", "LOCK", "PURGE"];

describe("an unknown address under /api", () => {
  const addresses = [
    "/api",
    "/api/",
    "/api?x=1",
    "/api/unknown",
    "/api/health/",
    "/api/health/x",
    "/api//health",
    "//api/health",
    "/api/Health",
    "/API/health",
    "/aPi/health",
    "/api/%68ealth",
    "/%61pi/health",
    "/%2561pi/health",
    "/api%2Fhealth",
    "/api/%2e%2e/x",
    "/api/../api/health",
    "/x/../api/health",
    "/x/%2e%2e/api/health",
    "/api/\\x",
    "/\\api/health",
    "/api\\health",
    "/api/health;x=1",
    "/api/health%00",
    "/api/%",
    "/api/health#x",
    "/mcp/",
    "/MCP",
    "/mcp//x",
  ];

  it.each(addresses)("%s answers 404 in JSON", async (address) => {
    expectRefusal(service, await service.ask(address), { status: 404, code: "not_found" });
  });

  it.each(["POST", "HEAD", "OPTIONS", ...refusedMethods])("answers 404 to %s, too", async (method) => {
    const answer = await service.ask("/api/unknown", { method });
    expect(answer.status).toBe(404);
    expectStamp(service, answer);
    expect(answer.headers).not.toHaveProperty("allow");
  });

  it("leaves addresses beside /api to the pages", async () => {
    for (const address of ["/apis", "/api-docs", "/x/api/health"]) {
      const { status, headers } = await service.ask(address);
      expect(status).toBe(404);
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    }
  });
});

const addresses: { path: string; methods: Address["methods"] }[] = [
  ...Object.values(operations),
  ...mcpServer.paths.map((path) => ({ path, methods: mcpServer.methods })),
];

describe.each(addresses)("$path", ({ path, methods }) => {
  const others = ["GET", "HEAD", "POST", ...refusedMethods].filter(
    (method) => !methods.includes(method as never),
  );

  it.each(others)("answers 405 to %s, with Allow", async (method) => {
    const answer = await service.ask(path, { method });
    expect(answer.headers.allow).toBe(methods.join(", "));
    if (method === "HEAD") expect(answer).toMatchObject({ status: 405, text: "" });
    else expectRefusal(service, answer, { status: 405, code: "method_not_allowed" });
  });

  it("refuses the method before it looks at the version", async () => {
    const answer = await service.ask(path, { method: "DELETE", headers: { "API-Version": "9" } });
    expect(answer.status).toBe(405);
  });

  it("answers 405 to a made-up verb in a readable request line", async () => {
    const received = await service.send(`FROBNICATE ${path}?a=b HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
    expect(received).toContain(`\r\nallow: ${methods.join(", ")}\r\n`);
    expect(received).toContain('{"error":{"code":"method_not_allowed"');
  });
});

describe("a request that Node's parser gives up on", () => {
  it.each([
    [
      "a made-up verb at an unknown address",
      "FROBNICATE /api/x HTTP/1.1\r\nHost: x\r\n\r\n",
      404,
      "not_found",
    ],
    ["bytes that are no request", "\x16\x03\x01\x02\x00\r\n\r\n", 400, "invalid_request"],
    ["a broken request line", "GET /api/health\r\n\r\n", 400, "invalid_request"],
    ["a broken header", "GET /api/health HTTP/1.1\r\nHost: x\r\nNoColon\r\n\r\n", 400, "invalid_request"],
    ["no Host", "GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "invalid_request"],
    [
      "two Hosts",
      "GET /api/health HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n",
      400,
      "invalid_request",
    ],
    ["a target that is no path", "GET api/health HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request"],
    [
      "OPTIONS of no path",
      "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      400,
      "invalid_request",
    ],
    [
      "headers over their bound",
      `GET /api/health HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(connectionLimits.maxHeaderSize)}\r\n\r\n`,
      431,
      "too_large",
    ],
  ])("%s is answered in our shape", async (_, bytes, status, code) => {
    const received = await service.send(bytes);
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received).toContain("\r\napi-version: 1\r\n");
    expect(received).toContain(`{"error":{"code":"${code}"`);
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("serves an absolute-form target as its path, under our own name", async () => {
    const bytes = "GET http://evil.example/api/x HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    const received = await service.send(bytes);
    expect(received).toMatch(/^HTTP\/1\.1 404 /);
    expect(received).toContain(`"docs":"${service.url}/docs/api/errors#not_found"`);
    expect(received).not.toContain("evil");
  });
});
