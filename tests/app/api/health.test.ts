import { beforeEach, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { expectAnswer, expectQuotaSpent, expectRefusal, expectStamp } from "@/tests/support/contract";
import type { Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

const { health } = operations;
const requests = 120;
let service: Service;
let addresses = 0;
/** An address without any requests yet. */
const newAddress = () => `127.0.1.${++addresses}`;

beforeEach(async () => {
  service = await unconfigured();
});

describe("GET /api/health", () => {
  it("answers with exactly the four fixed fields", async () => {
    const answer = await service.ask(health.path, { from: newAddress() });
    expect(expectAnswer(service, health, answer, 200)).toEqual({
      ok: true,
      service: "corner-office-web",
      surface: "web",
      agent: "not-hosted",
    });
  });

  it("counts down the client's quota in the draft's headers and the older ones", async () => {
    const from = newAddress();
    await service.ask(health.path, { from });
    const { headers } = await service.ask(health.path, { from });
    expect(headers["ratelimit-policy"]).toBe(`"health";q=${requests};w=60`);
    expect(headers.ratelimit).toBe(`"health";r=${requests - 2}`);
    expect(headers["ratelimit-limit"]).toBe(String(requests));
    expect(headers["ratelimit-remaining"]).toBe(String(requests - 2));
    expect(headers).not.toHaveProperty("retry-after");
  });

  it("answers 429 beyond the quota, with the seconds to wait", async () => {
    const from = newAddress();
    const statuses: number[] = [];
    for (let n = 0; n < requests; n++) statuses.push((await service.ask(health.path, { from })).status);
    expect(statuses).toEqual(Array(requests).fill(200));
    expectQuotaSpent(service, await service.ask(health.path, { from }), "health", requests);
  });

  it("does not trust forwarding headers from clients", async () => {
    const from = newAddress();
    const headers = [
      "X-Forwarded-For",
      "Forwarded",
      "X-Real-IP",
      "CF-Connecting-IP",
      "X-Vercel-Forwarded-For",
    ];
    await service.ask(health.path, { from });
    for (const [n, name] of headers.entries()) {
      const answer = await service.ask(health.path, { from, headers: { [name]: `198.51.100.${n}` } });
      expect(answer.headers["ratelimit-remaining"], name).toBe(String(118 - n));
    }
  });

  it("does not count OPTIONS, or requests refused for their method or version", async () => {
    const from = newAddress();
    await service.ask(health.path, { from, method: "OPTIONS" });
    await service.ask(health.path, { from, method: "DELETE" });
    const refused = await service.ask(health.path, { from, headers: { "API-Version": "2" } });
    expect(refused.status).toBe(400);
    expect(refused.headers).not.toHaveProperty("ratelimit");
    const { headers } = await service.ask(health.path, { from });
    expect(headers["ratelimit-remaining"]).toBe("119");
  });

  it("answers HEAD with the headers of GET and no body", async () => {
    const headers = { "X-Request-Id": "r-1" };
    const get = await service.ask(health.path, { from: newAddress(), headers });
    const head = await service.ask(health.path, { from: newAddress(), headers, method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.text).toBe("");
    expect({ ...head.headers, date: "" }).toEqual({ ...get.headers, date: "" });
  });

  it("answers OPTIONS with 204 and Allow", async () => {
    const answer = await service.ask(health.path, { method: "OPTIONS" });
    expect(answer.status).toBe(204);
    expectStamp(service, answer);
    expect(answer.headers.allow).toBe("GET, HEAD, OPTIONS");
    expect(answer.text).toBe("");
  });

  it("keeps a valid X-Request-Id and replaces an invalid one", async () => {
    const from = newAddress();
    const sane = await service.ask(health.path, { from, headers: { "X-Request-Id": "trace-01.a:b_c" } });
    expect(sane.headers["x-request-id"]).toBe("trace-01.a:b_c");
    for (const odd of ["a b", "<script>", "x".repeat(129), ""]) {
      const { headers } = await service.ask(health.path, { from, headers: { "X-Request-Id": odd } });
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
  });
});

describe("API-Version", () => {
  it.each(["1", " 1 ", "\t1"])("accepts %j", async (version) => {
    const from = newAddress();
    const answer = await service.ask(health.path, { from, headers: { "API-Version": version } });
    expectAnswer(service, health, answer, 200);
  });

  it.each(["2", "0", "1.0", "01", "v1", "1, 1", "", "latest", "\u00a01", "1\u00a0"])(
    "refuses %j with 400",
    async (version) => {
      for (const { path, methods } of Object.values(operations)) {
        const answer = await service.ask(path, { method: methods[0], headers: { "API-Version": version } });
        expectRefusal(service, answer, {
          status: 400,
          code: "invalid_request",
          message: "The API-Version header names a version that is not supported.",
          hint: "Send 'API-Version: 1', or leave the header out.",
        });
      }
    },
  );

  it("refuses two API-Version headers", async () => {
    const answer = await service.ask(health.path, { headers: { "API-Version": ["1", "1"] } });
    expect(answer.status).toBe(400);
  });
});
