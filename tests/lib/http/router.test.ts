import { beforeEach, describe, expect, it } from "vitest";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { clientFiles } from "@/lib/http/register/publications";
import { addresses, expectRefusal, expectStamp } from "@/tests/support/contract";
import type { Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

let service: Service;
beforeEach(async () => {
  service = await unconfigured();
});

const refusedMethods = ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "QUERY", "LOCK", "PURGE"];

describe("an unknown address under /api", () => {
  const unknown = [
    "/api",
    "/api/",
    "/api/unknown",
    "/api/health/",
    "/api//health",
    "/api/Health",
    "/API/health",
    "/api/%68ealth",
    "/%61pi/health",
    "/api%2Fhealth",
    "/api/%2e%2e/x",
    "/api/../api/health",
    "/api/\\x",
    "/api\\health",
    "/api/health%00",
    "/api/health#x",
    "/mcp//",
    "/MCP",
    "/mcp//x",
    "/mcp/account//",
    "/api/mcp/account",
    "/%6dcp",
  ];

  it.each(unknown)("%s answers 404 in JSON", async (address) => {
    expectRefusal(service, await service.ask(address), { status: 404, code: "not_found" });
  });

  it.each(["POST", "HEAD", "OPTIONS", ...refusedMethods])("answers 404 to %s, too", async (method) => {
    const answer = await service.ask("/api/unknown", { method });
    expect(answer.status).toBe(404);
    expectStamp(service, answer);
    expect(answer.headers).not.toHaveProperty("allow");
  });

  it("leaves addresses outside /api to the pages", async () => {
    for (const address of ["/apis", "/api-docs", "/x/api/health"]) {
      const { status, headers } = await service.ask(address);
      expect(status).toBe(404);
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    }
  });
});

describe.each(addresses)("$path", ({ path, methods }) => {
  const others = ["GET", "HEAD", "POST", ...refusedMethods].filter((method) => !methods.includes(method));

  it.each(others)("answers 405 to %s, with Allow", async (method) => {
    const answer = await service.ask(path, { method });
    expect(answer.headers.allow).toBe(methods.join(", "));
    if (method === "HEAD") expect(answer).toMatchObject({ status: 405, text: "" });
    else {
      const otherwise =
        path === operations.unsubscribe.path
          ? ` A person opens ${service.url}/unsubscribe instead, with the same query.`
          : mcpServer.paths.some((one) => one === path)
            ? ` An MCP client connects here by Streamable HTTP ('http'), not by SSE: see ${service.url}/docs/mcp.`
            : "";
      const hint = `Use one of the methods in the Allow header.${otherwise}`;
      expectRefusal(service, answer, { status: 405, code: "method_not_allowed", hint });
    }
  });

  it("refuses the method before it looks at the version", async () => {
    const answer = await service.ask(path, { method: "DELETE", headers: { "API-Version": "9" } });
    expect(answer.status).toBe(405);
  });
});

describe("a trailing slash", () => {
  it.each([
    ["/docs/", "/docs"],
    ["/sign-in/?problem=expired", "/sign-in?problem=expired"],
    ["/status/?x=<i>", "/status?x=<i>"],
    ["/unsubscribe/?token=a%20b&c", "/unsubscribe?token=a%20b&c"],
  ])("%s leads to %s (308)", async (path, location) => {
    for (const method of ["GET", "HEAD"]) {
      const answer = await service.ask(path, { method });
      expect([answer.status, answer.headers.location, answer.text]).toEqual([308, location, ""]);
      expect(answer.headers["cache-control"]).toBe("no-store");
    }
  });

  it.each([
    ["GET", "/docs//", 404],
    ["GET", "//docs/", 404],
    ["GET", "/no/such/page/", 404],
    ["GET", "/openapi.json/", 404],
    ["POST", "/sign-in/send/", 404],
  ])("%s %s answers %i", async (method, path, status) => {
    const answer = await service.ask(path, { method });
    expect([answer.status, answer.headers.location]).toEqual([status, undefined]);
  });
});

describe("a client file of an earlier version", () => {
  it("leads to today's, which is of the same major version", async () => {
    const newest = clientFiles.typescript.path;
    const answer = await service.ask("/docs/client/1.3.0/corner-office.ts");
    expect([answer.status, answer.text]).toEqual([
      302,
      `Version 1.3.0 of this file is not here any more. The newest is at ${service.url}${newest}\n`,
    ]);
    expect(answer.headers).toMatchObject({
      location: newest,
      "cache-control": "public, max-age=300",
      "access-control-allow-origin": "*",
      "content-type": "text/plain; charset=utf-8",
    });
    expect((await service.ask("/docs/client/1.3.0/corner_office.py", { method: "HEAD" })).status).toBe(302);
  });

  it.each([
    "/docs/client/0.9.0/corner-office.ts",
    "/docs/client/1.99.0/corner-office.ts",
    "/docs/client/2.0.0/corner-office.ts",
    "/docs/client/1.3.0/corner-office.rs",
    "/docs/client/1.3.0/",
    "/docs/1.3.0/client",
  ])("is not there: %s", async (path) => {
    expect((await service.ask(path)).status).toBe(404);
  });
});
