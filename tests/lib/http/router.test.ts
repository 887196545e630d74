import { beforeEach, describe, expect, it } from "vitest";
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

  it.each(unknown)("%s answers 404 in JSON", async (address) => {
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

describe.each(addresses)("$path", ({ path, methods }) => {
  const others = ["GET", "HEAD", "POST", ...refusedMethods].filter((method) => !methods.includes(method));

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
});
