import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LocalCounter } from "@/lib/rate-limit/local-counter";

const windowMs = 60_000;
const start = 1_000 * windowMs;

/** Spends until refused, at one instant, and answers how many were accepted. */
function spendAll(counter: LocalCounter, key: string, nowMs: number): number {
  let accepted = 0;
  while (counter.consume(key, nowMs).allowed) accepted++;
  return accepted;
}

describe("LocalCounter", () => {
  it("accepts requests up to the limit and returns the remaining number", () => {
    const counter = new LocalCounter(3, windowMs);
    expect(counter.consume("a", start)).toEqual({ allowed: true, remaining: 2 });
    expect(counter.consume("a", start)).toEqual({ allowed: true, remaining: 1 });
    expect(counter.consume("a", start)).toEqual({ allowed: true, remaining: 0 });
    expect(counter.consume("a", start)).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: 60 });
  });

  it("keeps keys apart", () => {
    const counter = new LocalCounter(1, windowMs);
    expect(counter.consume("a", start).allowed).toBe(true);
    expect(counter.consume("b", start).allowed).toBe(true);
    expect(counter.consume("a", start).allowed).toBe(false);
  });

  it("accepts a full burst every minute", () => {
    const counter = new LocalCounter(120, windowMs);
    expect(burst(counter, 100, start + 1000)).toEqual({ accepted: 100, firstRemaining: 119 });
    expect(burst(counter, 100, start + 61_500)).toEqual({ accepted: 100, firstRemaining: 119 });
  });

  it("accepts no more than the limit across the boundary of two minutes", () => {
    const counter = new LocalCounter(120, windowMs);
    let accepted = 0;
    for (let nowMs = start + 59_000; nowMs < start + 118_300; nowMs += 10) {
      if (counter.consume("a", nowMs).allowed) accepted++;
    }
    expect(accepted).toBe(120);
  });

  it("frees each request exactly one window later, to the millisecond", () => {
    const counter = new LocalCounter(2, windowMs);
    counter.consume("a", start);
    counter.consume("a", start + 10_000);
    expect(counter.consume("a", start + windowMs - 1)).toMatchObject({
      allowed: false,
      retryAfterSeconds: 1,
    });
    expect(counter.consume("a", start + windowMs)).toEqual({ allowed: true, remaining: 0 });
    expect(counter.consume("a", start + windowMs)).toMatchObject({ allowed: false, retryAfterSeconds: 10 });
  });

  it("does not count refusals", () => {
    const counter = new LocalCounter(10, windowMs);
    for (let n = 0; n < 100; n++) counter.consume("a", start + n);
    expect(spendAll(counter, "a", start + windowMs + 9)).toBe(10);
  });

  it("keeps at most maxKeys keys and evicts the oldest first", () => {
    const counter = new LocalCounter(1, windowMs, 1000);
    for (let n = 0; n < 5000; n++) {
      counter.consume(`key ${n}`, start + n * 20);
      expect(counter.size).toBeLessThanOrEqual(1000);
    }
    expect(counter.consume("key 4999", start + 4999 * 20).allowed).toBe(false);
    expect(counter.consume("key 0", start + 4999 * 20).allowed).toBe(true);
  });

  it("evicts a tenth at a time, so that a flood of keys does not clear other counts", () => {
    const counter = new LocalCounter(1, windowMs, 100);
    const keys = Array.from({ length: 100 }, (_, n) => `key ${n}`);
    for (const key of keys) counter.consume(key, start);
    counter.consume("one more", start);
    expect(counter.size).toBe(91);
    for (const key of keys.slice(10)) expect(counter.consume(key, start).allowed, key).toBe(false);
  });

  it("drops keys without a request for two windows", () => {
    const counter = new LocalCounter(5, windowMs);
    for (let n = 0; n < 1000; n++) counter.consume(`key ${n}`, start);
    counter.consume("other", start + windowMs);
    expect(counter.size).toBe(1001);
    counter.consume("other", start + 2 * windowMs);
    expect(counter.size).toBe(1);
  });
});

function burst(counter: LocalCounter, requests: number, atMs: number) {
  const decisions = Array.from({ length: requests }, (_, n) => counter.consume("a", atMs + n));
  const accepted = decisions.filter(({ allowed }) => allowed).length;
  return { accepted, firstRemaining: decisions[0]?.remaining };
}

/** Requests of a few clients: how long after the one before each comes, at any instant that a clock may begin with. */
const schedules = fc.record({
  limit: fc.integer({ min: 1, max: 30 }),
  beginsAtMs: fc.nat(10 * windowMs),
  steps: fc.array(
    fc.record({
      afterMs: fc.oneof(fc.nat(20), fc.nat(3000), fc.nat(windowMs + 1000), fc.constant(windowMs)),
      key: fc.constantFrom("a", "b", "c"),
    }),
    { minLength: 1, maxLength: 200 },
  ),
});

describe("on any schedule, the counter", () => {
  it("accepts below the limit, refuses at it, and reports the true remaining number and wait", () => {
    const isRight = fc.property(schedules, ({ limit, beginsAtMs, steps }) => {
      const counter = new LocalCounter(limit, windowMs);
      const accepted: { key: string; atMs: number }[] = [];
      let nowMs = beginsAtMs;
      for (const { afterMs, key } of steps) {
        nowMs += afterMs;
        const recent = accepted.filter((one) => one.key === key && one.atMs > nowMs - windowMs);
        const decision = counter.consume(key, nowMs);
        if (recent.length < limit) {
          expect(decision).toEqual({ allowed: true, remaining: limit - recent.length - 1 });
          accepted.push({ key, atMs: nowMs });
        } else {
          const freeInSeconds = Math.ceil(((recent[0]?.atMs ?? 0) + windowMs - nowMs) / 1000);
          expect(decision).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: freeInSeconds });
        }
      }
    });
    fc.assert(isRight, { seed: 20_261_121, numRuns: 500 });
  });
});
