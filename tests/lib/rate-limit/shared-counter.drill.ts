import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import type { CounterStore } from "@/lib/rate-limit/counter-store";
import type { RateLimitDecision } from "@/lib/rate-limit/local-counter";
import { SharedCounter } from "@/lib/rate-limit/shared-counter";
import { log } from "@/lib/runtime/log";
import { counterStores, openStore } from "@/tests/support/counter-stores";
import { eventually } from "@/tests/support/databases";

const redisPort = inject("redisPort") ?? 0;

describe.runIf(redisPort).each(counterStores)("the counter in $way", ({ way, startBridge, faults }) => {
  let bridge: Awaited<ReturnType<typeof startBridge>>;
  let stores: [CounterStore, CounterStore];
  const redis = new Redis({ port: redisPort, host: "127.0.0.1", lazyConnect: true });
  beforeAll(async () => {
    bridge = await startBridge(redisPort);
    stores = [openStore(bridge.environment), openStore(bridge.environment)];
  });
  afterAll(async () => {
    await bridge.stop();
    redis.disconnect();
  });

  const [limit, windowMs] = [5, 60_000];
  const fallback = (): RateLimitDecision => ({ allowed: true, remaining: 0 });
  // However slow the machine is: only the tests of the deadline itself have that of the service.
  const patient = 20_000;
  const options = (name: string) => ({
    name: `${way} ${name}`,
    limit,
    windowMs,
    storeTimeoutMs: patient,
    fallback,
    clock: () => Date.now(),
  });
  const newCounter = (name: string, storeTimeoutMs = patient) =>
    new SharedCounter(stores[0], { ...options(name), storeTimeoutMs });
  const consume = async (counter: SharedCounter, key = "a") => counter.consume(key, performance.now());

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"], now: 20_000 * windowMs });
    // A first connection may take longer than a question is given.
    for (const store of stores) await eventually(() => store.eval("return 1", ["{probe}"], []));
  });
  afterEach(() => {
    bridge.fault = "none";
    vi.useRealTimers();
  });

  it("admits no more than the limit in any window, and a request after the wait it names, for any schedule of two instances", async () => {
    let schedules = 0;
    const step = fc.record({
      instance: fc.nat(1),
      pauseMs: fc.oneof(
        fc.constant(0),
        fc.nat(2000),
        fc.nat(windowMs),
        fc.constantFrom(windowMs - 1, windowMs),
      ),
      waits: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const name = `schedule ${schedules++}`;
        const counters = stores.map((store) => new SharedCounter(store, options(name)));
        const admittedAtMs: number[] = [];
        const consumeAt = async (instance: number) => {
          const decision = await consume(counters[instance] as SharedCounter);
          if (decision.allowed) admittedAtMs.push(Date.now());
          const ofLastWindow = admittedAtMs.filter((atMs) => atMs > Date.now() - windowMs).length;
          expect(ofLastWindow).toBeLessThanOrEqual(limit);
          expect(decision.remaining).toBe(limit - ofLastWindow);
          return decision;
        };
        for (const { instance, pauseMs, waits } of steps) {
          vi.advanceTimersByTime(pauseMs);
          const { allowed, retryAfterSeconds = 0 } = await consumeAt(instance);
          if (allowed || !waits) continue;
          vi.advanceTimersByTime((retryAfterSeconds - 1) * 1000);
          if (retryAfterSeconds > 1) expect((await consumeAt(1 - instance)).retryAfterSeconds).toBe(1);
          vi.advanceTimersByTime(1000);
          expect((await consumeAt(instance)).allowed).toBe(true);
        }
      }),
      { numRuns: 15 },
    );
  });

  it("takes a request back, for the other instance as well", async () => {
    const counters = stores.map((store) => new SharedCounter(store, options("taken back")));
    const [one, other] = counters as [SharedCounter, SharedCounter];
    for (let n = 0; n < limit; n++) await consume(one);
    expect((await consume(one)).allowed).toBe(false);
    one.refund("a");
    await eventually(async () => expect((await consume(other)).allowed).toBe(true));
    expect((await consume(one)).allowed).toBe(false);
    one.refund("a");
    await vi.waitFor(async () => expect((await consume(one)).allowed).toBe(true));
  });

  it("goes by the clock of the store, so that instances whose clocks differ agree", async () => {
    const counters = stores.map(
      (store) => new SharedCounter(store, { ...options("clocks"), clock: undefined }),
    );
    for (let n = 0; n < limit; n++) {
      expect((await consume(counters[n % 2] as SharedCounter)).remaining).toBe(limit - n - 1);
      vi.setSystemTime(Date.now() + (n % 2 ? -7_200_000 : 7_200_000));
    }
    for (const counter of counters) expect((await consume(counter)).allowed).toBe(false);
  });

  it("names a wait of at most a window after the clock of the store stepped back", async () => {
    for (let n = 0; n < limit; n++) await consume(newCounter("steps back"));
    vi.setSystemTime(Date.now() - 7_200_000);
    expect(await consume(newCounter("steps back"))).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
    vi.advanceTimersByTime(windowMs);
    expect((await consume(newCounter("steps back"))).remaining).toBe(limit - 1);
  });

  it("stores one key for a client, with a hash tag, of as many instants as the limit, for one window", async () => {
    const counter = newCounter("keys");
    await Promise.all(Array.from({ length: 3 * limit }, () => consume(counter, "client")));
    const keys = await redis.keys(`corner-office:${way} keys:*`);
    expect(keys).toEqual([`corner-office:${way} keys:{client}`]);
    expect(await redis.llen(keys[0] ?? "")).toBe(limit);
    const leftMs = await redis.pttl(keys[0] ?? "");
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(windowMs);
  });

  it("remembers a refusal until it ends, and asks the store once a second at most", async () => {
    const counter = newCounter("remembers");
    for (let n = 0; n < limit; n++) expect((await consume(counter)).remaining).toBe(limit - n - 1);
    const { retryAfterSeconds = 0 } = await consume(counter);
    expect(retryAfterSeconds).toBe(60);
    bridge.calls = 0;
    for (let second = 0; second < retryAfterSeconds; second++) {
      const refused = { allowed: false, remaining: 0, retryAfterSeconds: retryAfterSeconds - second };
      for (let n = 0; n < 5; n++) expect(await consume(counter)).toEqual(refused);
      vi.advanceTimersByTime(1000);
    }
    expect(bridge.calls).toBeLessThanOrEqual(60);
    expect((await consume(counter)).allowed).toBe(true);
  });

  it("refuses no one a second after the store went away, whom it had refused before", async () => {
    const counter = newCounter("refused, then away");
    for (let n = 0; n < limit; n++) await consume(counter);
    expect(await consume(counter)).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
    bridge.fault = "reset";
    expect((await consume(counter)).allowed, "of which no one has heard yet").toBe(false);
    vi.advanceTimersByTime(1000);
    expect(await consume(counter)).toEqual({ allowed: true, remaining: 0 });
    expect(await consume(counter)).toEqual({ allowed: true, remaining: 0 });
  });

  it.each(["none", "late"] as const)(
    "admits exactly the limit of 1,000 at once when the store is: %s",
    async (fault) => {
      bridge.fault = fault;
      const counter = newCounter(`burst ${fault}`);
      const decisions = await Promise.all(Array.from({ length: 1000 }, () => consume(counter)));
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(limit);
      expect(decisions.filter(({ retryAfterSeconds }) => retryAfterSeconds === undefined)).toHaveLength(
        limit,
      );
    },
  );

  it("does not hold the store to account for the time in which we were busy ourselves", async () => {
    const counter = newCounter("busy", 400);
    for (let n = 0; n < 2; n++) {
      const decision = consume(counter);
      await new Promise((resolve) => setTimeout(resolve));
      const until = process.hrtime.bigint() + 600_000_000n;
      while (process.hrtime.bigint() < until);
      expect((await decision).remaining).toBe(limit - n - 1);
    }
  });

  it("never refuses for a store that comes and goes, nor waits longer than one deadline for it", async () => {
    const counter = newCounter("flaps", 400);
    for (let n = 0; n < 2 * faults.length; n++) {
      bridge.fault = faults[n % faults.length] ?? "none";
      if (n % 3 === 0) bridge.fault = "none";
      const startedAt = process.hrtime.bigint();
      expect(await consume(counter, `key ${n}`)).toMatchObject({ allowed: true });
      expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeLessThan(3000);
      vi.advanceTimersByTime(400);
    }
  });

  it("asks again a second after a failure, whatever becomes of the wall clock", async () => {
    const counter = newCounter("clock");
    bridge.fault = "reset";
    const startMs = performance.now();
    const logged = vi.spyOn(log(), "warn").mockReturnValue();
    expect(await counter.consume("a", startMs)).toEqual({ allowed: true, remaining: 0 });
    const kind = expect.stringMatching(/^\w+$/); // and not its words, which can quote a command
    expect(logged.mock.lastCall?.[0]).toEqual({ counter: `${way} clock`, kind });
    logged.mockRestore();
    bridge.fault = "none";
    vi.setSystemTime(Date.now() - 7_200_000);
    bridge.calls = 0;
    expect(await counter.consume("a", startMs + 999)).toEqual({ allowed: true, remaining: 0 });
    expect(bridge.calls).toBe(0);
    await eventually(async () => expect((await counter.consume("a", startMs + 10_000)).remaining).toBe(4));
  });
});
