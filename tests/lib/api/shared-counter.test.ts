import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import type { CounterStore } from "@/lib/api/counter-store";
import { operations } from "@/lib/api/operations";
import { type Decision, ProcessCounter } from "@/lib/api/process-counter";
import { RedisStore } from "@/lib/api/redis-store";
import { SharedCounter } from "@/lib/api/shared-counter";
import { UpstashStore } from "@/lib/api/upstash-store";
import { quotas } from "@/lib/settings/limits";
import { expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { postLegacy } from "@/tests/support/mcp";
import { startRedisBridge } from "@/tests/support/redis-bridge";
import { type Environment, Service } from "@/tests/support/service";
import { type Fault, startUpstashBridge } from "@/tests/support/upstash-bridge";

const redisPort = inject("redisPort") ?? 0;
const { path } = operations.health;
const { requests, windowSeconds } = quotas.health;

const openUpstash = ({
  UPSTASH_REDIS_REST_URL: url = "",
  UPSTASH_REDIS_REST_TOKEN: token = "",
}: Environment) => new UpstashStore({ url, token });
const openRedis = ({ REDIS_URL = "" }: Environment) => new RedisStore(REDIS_URL);

const faults: Fault[] = ["reset", "frozen", "slow", "500", "html", "nonsense"];
const ways = [
  { way: "Upstash", startBridge: startUpstashBridge, open: openUpstash, faults: [...faults, "endless"] },
  { way: "Redis", startBridge: startRedisBridge, open: openRedis, faults },
] as const;

describe.runIf(redisPort).each(ways)("the counter in $way", ({ way, startBridge, open, faults }) => {
  let bridge: Awaited<ReturnType<typeof startBridge>>;
  let store: CounterStore;
  beforeAll(async () => {
    bridge = await startBridge(redisPort);
    store = open(bridge.environment);
  });
  afterAll(() => bridge.stop());

  describe("by itself", () => {
    const [limit, windowMs] = [5, 60_000];
    const whileAway = (): Decision => ({ allowed: true, remaining: 0 });
    // However slow the machine is: only the tests of the deadline itself have that of the service.
    const patient = 20_000;
    const newCounter = (name: string, answersWithinMs = patient) =>
      new SharedCounter(store, { name: `${way} ${name}`, limit, windowMs, answersWithinMs, whileAway });
    const spend = async (counter: SharedCounter, key = "a") => counter.spend(key, Date.now());

    beforeEach(async () => {
      vi.useFakeTimers({ toFake: ["Date"], now: 20_000 * windowMs });
      // A first connection may take longer than a question is given.
      await eventually(() => store.run([["PING"]], AbortSignal.timeout(5000)));
    });
    afterEach(() => {
      bridge.fault = "none";
      vi.useRealTimers();
    });

    it("refuses until the wait it named is over, and not a second longer", async () => {
      const schedule = [0, 0, 40_000, 0, 7000, 0, 100, 30_000, 0, 0, 0, 0, 12_345, 0, 0, 59_999, 0, 0, 1, 0];
      let refusals = 0;
      for (const pauseMs of [...schedule, ...schedule, ...schedule]) {
        vi.setSystemTime(Date.now() + pauseMs);
        // One that remembers nothing asks the store each time.
        const { allowed, retryAfterSeconds = 0 } = await spend(newCounter("waits"));
        if (allowed) continue;
        refusals++;
        if (retryAfterSeconds > 1) {
          vi.setSystemTime(Date.now() + (retryAfterSeconds - 1) * 1000);
          expect(await spend(newCounter("waits"))).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
          vi.setSystemTime(Date.now() + 1000);
        } else {
          vi.setSystemTime(Date.now() + retryAfterSeconds * 1000);
        }
        expect((await spend(newCounter("waits"))).allowed, `refusal ${refusals}`).toBe(true);
      }
      expect(refusals).toBeGreaterThan(10);
    });

    it("remembers a refusal until it ends, without asking the store", async () => {
      const counter = newCounter("remembers");
      for (let n = 0; n < limit; n++) expect((await spend(counter)).remaining).toBe(limit - n - 1);
      const { retryAfterSeconds = 0 } = await spend(counter);
      expect(retryAfterSeconds).toBe(61); // at the very start of a window
      bridge.calls = 0;
      for (let second = 0; second < retryAfterSeconds; second++) {
        const refusal = { allowed: false, remaining: 0, retryAfterSeconds: retryAfterSeconds - second };
        expect(await spend(counter)).toEqual(refusal);
        vi.setSystemTime(Date.now() + 1000);
      }
      expect(bridge.calls).toBe(0);
      expect((await spend(counter)).allowed).toBe(true);
    });

    it.each(["none", "late"] as const)(
      "admits exactly the limit of 1,000 at once when the store is: %s",
      async (fault) => {
        bridge.fault = fault;
        bridge.calls = 0;
        const counter = newCounter(`burst ${fault}`);
        const decisions = await Promise.all(Array.from({ length: 1000 }, () => spend(counter)));
        expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(limit);
        expect(decisions.filter(({ retryAfterSeconds }) => retryAfterSeconds === undefined)).toHaveLength(
          limit,
        );
        expect(counter.isUp).toBe(true);
      },
    );

    it("does not hold the store to account for the time in which we were busy ourselves", async () => {
      const counter = newCounter("busy", 400);
      for (let n = 0; n < 2; n++) {
        const decision = spend(counter);
        await new Promise((resolve) => setTimeout(resolve));
        const until = performance.now() + 600;
        while (performance.now() < until);
        expect((await decision).remaining).toBe(limit - n - 1);
      }
    });

    it("never refuses for a store that comes and goes, nor waits longer than one deadline for it", async () => {
      const counter = newCounter("flaps", 400);
      // Every fault, after every other.
      for (let n = 0; n < 4 * faults.length; n++) {
        bridge.fault = faults[n % faults.length] ?? "none";
        if (n % 4 === 0) bridge.fault = "none";
        const startedAtMs = performance.now();
        expect(await counter.spend(`key ${n}`, Date.now())).toMatchObject({ allowed: true });
        expect(performance.now() - startedAtMs).toBeLessThan(3000);
        vi.setSystemTime(Date.now() + 400);
      }
    });

    it("asks again a second after a failure, whatever becomes of the wall clock", async () => {
      const counter = newCounter("clock");
      bridge.fault = "reset";
      const startMs = performance.now();
      expect(await counter.spend("a", startMs)).toEqual({ allowed: true, remaining: 0 });
      bridge.fault = "none";
      vi.setSystemTime(Date.now() - 7_200_000);
      bridge.calls = 0;
      expect(await counter.spend("a", startMs + 999)).toEqual({ allowed: true, remaining: 0 });
      expect(bridge.calls).toBe(0);
      await eventually(async () => expect((await counter.spend("a", startMs + 10_000)).remaining).toBe(4));
    });

    it("counts in this process what may not go uncounted while the store is away", async () => {
      const inProcess = new ProcessCounter(limit, windowMs);
      const counter = new SharedCounter(store, {
        ...{ name: "away", limit, windowMs, answersWithinMs: patient },
        whileAway: (key, nowMs) => inProcess.spend(key, nowMs),
      });
      bridge.fault = "reset";
      const decisions: Decision[] = [];
      for (let n = 0; n < limit + 1; n++) decisions.push(await counter.spend("a", 0));
      expect(decisions.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0]);
      expect(decisions.at(-1)).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: 60 });
    });
  });

  describe("of two instances", () => {
    let first: Service;
    let second: Service;
    beforeAll(async () => {
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
    afterAll(() => Promise.all([first.stop(), second.stop()]));

    /** A busy machine may take longer over a first call than the deadline allows. */
    async function untilTheyCount() {
      for (const service of [first, second]) {
        await eventually(async () => {
          const { headers } = await service.ask(path, { from: "127.0.2.9" });
          expect(headers["ratelimit-remaining"]).not.toBe("0");
        });
      }
    }

    it("is one counter", async () => {
      const from = `127.0.${way.length}.1`;
      const remaining: unknown[] = [];
      for (const service of [first, second, first, second]) {
        remaining.push((await service.ask(path, { from })).headers["ratelimit-remaining"]);
      }
      expect(remaining).toEqual([1, 2, 3, 4].map((spent) => String(requests - spent)));
    });

    it("refuses one more than that of both together, with the same headers as in process", async () => {
      const from = `127.0.${way.length}.2`;
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

    it("stores no address, only its keyed hash", async () => {
      await first.ask(path, { from: "127.0.2.3" });
      const redis = new Redis({ port: redisPort, host: "127.0.0.1" });
      const keys = await redis.keys("corner-office:health:*");
      redis.disconnect();
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys) expect(key).toMatch(/^corner-office:health:[\w-]{22}:\d+$/);
    });

    it.each([...faults])(
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
        const tookSeconds = (Date.now() - startedAtMs) / 1000;
        expect(tookSeconds).toBeLessThan(20);
        expect(bridge.calls).toBeGreaterThan(0);
        // Once a second it is asked whether it is back.
        expect(bridge.calls).toBeLessThanOrEqual(1 + Math.floor(tookSeconds));
      },
    );

    it("goes on for MCP as a counter of each process while the store is away", async () => {
      bridge.fault = "reset";
      const from = "127.0.2.7";
      const statuses: number[] = [];
      for (let n = 0; n <= quotas.mcp.requests; n++) {
        statuses.push((await postLegacy(first, { method: "tools/list" }, { from })).status);
      }
      expect(statuses.filter((status) => status === 200)).toHaveLength(quotas.mcp.requests);
      expect(statuses.at(-1)).toBe(429);
    });

    it("is asked at most once a second while the store is away, and counts again when it is back", async () => {
      bridge.fault = "reset";
      await first.ask(path);
      bridge.calls = 0;
      const startedAtMs = performance.now();
      while (performance.now() - startedAtMs < 2500) {
        await first.ask(path);
        await sleep(20);
      }
      expect(bridge.calls).toBeGreaterThanOrEqual(1);
      expect(bridge.calls).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAtMs) / 1000));
      bridge.fault = "none";
      await untilTheyCount();
      const { headers } = await first.ask(path, { from: `127.0.${way.length}.4` });
      expect(headers["ratelimit-remaining"]).toBe(String(requests - 1));
    });

    it("is found to work by check", async () => {
      const findings = await first.adminJson<{ what: string; detail: string }[]>("check");
      expect(findings.find(({ what }) => what === "counters")).toMatchObject({ detail: `${way} answers` });
    });
  });
});
