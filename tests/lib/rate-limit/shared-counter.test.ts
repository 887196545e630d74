import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import type { CounterStore } from "@/lib/rate-limit/counter-store";
import { LocalCounter, type RateLimitDecision } from "@/lib/rate-limit/local-counter";
import { SharedCounter } from "@/lib/rate-limit/shared-counter";
import { counterStores } from "@/tests/support/counter-stores";
import { eventually } from "@/tests/support/databases";

const redisPort = inject("redisPort") ?? 0;

describe.runIf(redisPort).each(counterStores)("the counter in $way", ({ way, startBridge, open, faults }) => {
  let bridge: Awaited<ReturnType<typeof startBridge>>;
  let store: CounterStore;
  beforeAll(async () => {
    bridge = await startBridge(redisPort);
    store = open(bridge.environment);
  });
  afterAll(() => bridge.stop());

  const [limit, windowMs] = [5, 60_000];
  const fallback = (): RateLimitDecision => ({ allowed: true, remaining: 0 });
  // However slow the machine is: only the tests of the deadline itself have that of the service.
  const patient = 20_000;
  const newCounter = (name: string, storeTimeoutMs = patient) =>
    new SharedCounter(store, { name: `${way} ${name}`, limit, windowMs, storeTimeoutMs, fallback });
  const consume = async (counter: SharedCounter, key = "a") => counter.consume(key, Date.now());

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
      const { allowed, retryAfterSeconds = 0 } = await consume(newCounter("waits"));
      if (allowed) continue;
      refusals++;
      if (retryAfterSeconds > 1) {
        vi.setSystemTime(Date.now() + (retryAfterSeconds - 1) * 1000);
        expect(await consume(newCounter("waits"))).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
        vi.setSystemTime(Date.now() + 1000);
      } else {
        vi.setSystemTime(Date.now() + retryAfterSeconds * 1000);
      }
      expect((await consume(newCounter("waits"))).allowed, `refusal ${refusals}`).toBe(true);
    }
    expect(refusals).toBeGreaterThan(10);
  });

  it("remembers a refusal until it ends, without asking the store", async () => {
    const counter = newCounter("remembers");
    for (let n = 0; n < limit; n++) expect((await consume(counter)).remaining).toBe(limit - n - 1);
    const { retryAfterSeconds = 0 } = await consume(counter);
    expect(retryAfterSeconds).toBe(61); // at the very start of a window
    bridge.calls = 0;
    for (let second = 0; second < retryAfterSeconds; second++) {
      const errorParts = { allowed: false, remaining: 0, retryAfterSeconds: retryAfterSeconds - second };
      expect(await consume(counter)).toEqual(errorParts);
      vi.setSystemTime(Date.now() + 1000);
    }
    expect(bridge.calls).toBe(0);
    expect((await consume(counter)).allowed).toBe(true);
  });

  it.each(["none", "late"] as const)(
    "admits exactly the limit of 1,000 at once when the store is: %s",
    async (fault) => {
      bridge.fault = fault;
      bridge.calls = 0;
      const counter = newCounter(`burst ${fault}`);
      const decisions = await Promise.all(Array.from({ length: 1000 }, () => consume(counter)));
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
      const decision = consume(counter);
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
      expect(await counter.consume(`key ${n}`, Date.now())).toMatchObject({ allowed: true });
      expect(performance.now() - startedAtMs).toBeLessThan(3000);
      vi.setSystemTime(Date.now() + 400);
    }
  });

  it("asks again a second after a failure, whatever becomes of the wall clock", async () => {
    const counter = newCounter("clock");
    bridge.fault = "reset";
    const startMs = performance.now();
    expect(await counter.consume("a", startMs)).toEqual({ allowed: true, remaining: 0 });
    bridge.fault = "none";
    vi.setSystemTime(Date.now() - 7_200_000);
    bridge.calls = 0;
    expect(await counter.consume("a", startMs + 999)).toEqual({ allowed: true, remaining: 0 });
    expect(bridge.calls).toBe(0);
    await eventually(async () => expect((await counter.consume("a", startMs + 10_000)).remaining).toBe(4));
  });

  it("counts in this process what may not go uncounted while the store is away", async () => {
    const inProcess = new LocalCounter(limit, windowMs);
    const counter = new SharedCounter(store, {
      name: "away",
      limit,
      windowMs,
      storeTimeoutMs: patient,
      fallback: (key, nowMs) => inProcess.consume(key, nowMs),
    });
    bridge.fault = "reset";
    const decisions: RateLimitDecision[] = [];
    for (let n = 0; n < limit + 1; n++) decisions.push(await counter.consume("a", 0));
    expect(decisions.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0]);
    expect(decisions.at(-1)).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: 60 });
  });
});
