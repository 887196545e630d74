import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { operations } from "@/lib/api/operations";
import { SharedCounter } from "@/lib/api/shared-counter";
import { quotas } from "@/lib/settings/limits";
import { expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";
import { type Fault, startUpstashBridge } from "@/tests/support/upstash-bridge";

const redisPort = inject("redisPort");
const { path } = operations.health;
const { requests, windowSeconds } = quotas.health;

describe.runIf(redisPort)("the counter in Upstash", () => {
  let bridge: Awaited<ReturnType<typeof startUpstashBridge>>;
  let first: Service;
  let second: Service;

  beforeAll(async () => {
    bridge = await startUpstashBridge(redisPort ?? 0);
    [first, second] = await Promise.all([
      Service.start(bridge.environment),
      Service.start(bridge.environment),
    ]);
    await untilTheyCount();
  });
  afterEach(async () => {
    bridge.fault = "none";
    await untilTheyCount();
  });
  afterAll(async () => {
    await Promise.all([first.stop(), second.stop()]);
    await bridge.stop();
  });

  /** A busy machine may take longer over a first call than the deadline allows. */
  async function untilTheyCount() {
    for (const service of [first, second]) {
      await eventually(async () => {
        const { headers } = await service.ask(path, { from: "127.0.2.9" });
        expect(headers["ratelimit-remaining"]).not.toBe("0");
      });
    }
  }

  it("is one counter for two instances", async () => {
    const from = "127.0.2.1";
    const remaining: unknown[] = [];
    for (const service of [first, second, first, second]) {
      remaining.push((await service.ask(path, { from })).headers["ratelimit-remaining"]);
    }
    expect(remaining).toEqual([1, 2, 3, 4].map((spent) => String(requests - spent)));
  });

  it("refuses one more than that of both together, with the same headers as in process", async () => {
    const from = "127.0.2.2";
    for (let n = 0; n < requests; n++) {
      expect((await (n % 2 ? first : second).ask(path, { from })).status).toBe(200);
    }
    let refused = await second.ask(path, { from });
    for (let n = 0; n < 5 && refused.status === 200; n++) refused = await second.ask(path, { from });
    const wait = Number(refused.headers["retry-after"]);
    expectRefusal(second, refused, {
      status: 429,
      code: "unavailable",
      message: `Too many requests: ${requests} are allowed in ${windowSeconds} seconds. Wait ${wait} seconds.`,
    });
    expect(refused.headers.ratelimit).toBe(`"health";r=0;t=${wait}`);
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(61);
  });

  it("accepts after exactly the wait it named", async () => {
    const [limit, windowMs] = [5, 60_000];
    const { UPSTASH_REDIS_REST_URL: url = "", UPSTASH_REDIS_REST_TOKEN: token = "" } = bridge.environment;
    const shared = new SharedCounter({ url, token }, "waits", limit, windowMs);
    vi.useFakeTimers({ toFake: ["Date"], now: 2_000 * windowMs });
    for (const intoMs of [0, 1, 30_000, 59_999]) {
      vi.setSystemTime(Math.ceil(Date.now() / windowMs + 2) * windowMs + intoMs);
      const key = `into ${intoMs}`;
      for (let n = 0; n < limit; n++) expect((await shared.spend(key, performance.now())).allowed).toBe(true);
      const { allowed, retryAfterSeconds = 0 } = await shared.spend(key, performance.now());
      expect(allowed).toBe(false);
      vi.setSystemTime(Date.now() + retryAfterSeconds * 1000);
      expect((await shared.spend(key, performance.now())).allowed, key).toBe(true);
    }
    vi.useRealTimers();
  });

  it("stores no address, only its keyed hash", async () => {
    await first.ask(path, { from: "127.0.2.3" });
    const redis = new Redis({ port: redisPort ?? 0, host: "127.0.0.1" });
    const keys = await redis.keys("corner-office:health:*");
    redis.disconnect();
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key).toMatch(/^corner-office:health:[\w-]{22}:\d+$/);
  });

  it.each<Fault>(["reset", "frozen", "slow", "500", "html", "nonsense"])(
    "never stops a health check when the store is %s: allowed, nothing remaining, limit as ever",
    async (fault) => {
      bridge.fault = fault;
      bridge.calls = 0;
      const startedAtMs = Date.now();
      for (let n = 0; n < 20; n++) {
        const { status, headers } = await first.ask(path);
        expect(status).toBe(200);
        expect(headers.ratelimit).toBe('"health";r=0');
        expect(headers["ratelimit-limit"]).toBe(String(requests));
        expect(headers["ratelimit-remaining"]).toBe("0");
        expect(headers["ratelimit-policy"]).toBe(`"health";q=${requests};w=${windowSeconds}`);
      }
      const tookMs = Date.now() - startedAtMs;
      expect(tookMs).toBeLessThan(900);
      expect(bridge.calls).toBe(1);
    },
  );

  it("probes at most once a second while the store is away, and counts again when it is back", async () => {
    bridge.fault = "reset";
    await first.ask(path);
    bridge.calls = 0;
    const until = Date.now() + 2500;
    while (Date.now() < until) await first.ask(path);
    expect(bridge.calls).toBeGreaterThanOrEqual(1);
    expect(bridge.calls).toBeLessThanOrEqual(3);
    bridge.fault = "none";
    await untilTheyCount();
    const { headers } = await first.ask(path, { from: "127.0.2.4" });
    expect(headers["ratelimit-remaining"]).toBe("119");
  });
});
