import { beforeEach, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { expectQuotaSpent } from "@/tests/support/contract";
import { expectMcpStamp, post, postLegacy, postModern } from "@/tests/support/mcp";
import type { Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

const list = { method: "tools/list" };
const paths = ["/mcp", "/api/mcp", "/mcp/account", "/mcp/", "/api/mcp/"];
const requests = 60;
/** The `RateLimit-Remaining` after so many requests. */
const remainingAfter = (count: number) => String(requests - count);

describe("the quota of the MCP server", () => {
  let service: Service;
  let addresses = 0;
  /** An address without any requests yet. */
  const newAddress = () => `127.0.3.${++addresses}`;
  beforeEach(async () => {
    service = await unconfigured();
  });

  it("is shared by all paths for each address", async () => {
    const from = newAddress();
    const remaining: number[] = [];
    for (let n = 0; n < requests; n++) {
      const answer = await postLegacy(service, list, { from, path: paths[n % paths.length] ?? "" });
      expect(answer.status).toBe(200);
      remaining.push(Number(answer.headers["ratelimit-remaining"]));
    }
    expect(remaining).toEqual(Array.from({ length: requests }, (_, n) => requests - 1 - n));
    for (const path of paths) {
      const refused = await postLegacy(service, list, { from, path });
      expectQuotaSpent(service, refused, "mcp", requests);
      expectMcpStamp(service, refused);
    }
  });

  it("counts every POST for our host, and nothing else", async () => {
    const from = newAddress();
    const remaining = async (body: string, headers = {}) =>
      (await post(service, body, { from, headers })).headers["ratelimit-remaining"];
    expect(await remaining("{")).toBe(remainingAfter(1));
    expect(await remaining("", { "Content-Type": "text/plain" })).toBe(remainingAfter(2));
    expect(await remaining("x".repeat(64 * 1024 + 1))).toBe(remainingAfter(3));
    expect(await remaining("{}", { "API-Version": "2" })).toBe(remainingAfter(4));
    await service.ask("/mcp", { from, method: "OPTIONS" });
    await service.ask("/mcp", { from });
    await service.ask("/mcp", { from, method: "DELETE" });
    await service.ask("/mcp//", { from, method: "POST" });
    expect(await remaining("{}", { Host: "evil.example" })).toBeUndefined();
    expect(await remaining("{}")).toBe(remainingAfter(5));
  });

  it("is separate from the quota of the health check", async () => {
    const from = newAddress();
    await postModern(service, list, { from });
    const { headers } = await service.ask(operations.health.path, { from });
    expect(headers["ratelimit-remaining"]).toBe("119");
  });
});
