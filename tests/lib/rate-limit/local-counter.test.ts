import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LocalCounter } from "@/lib/rate-limit/local-counter";

const windowMs = 60_000;
const start = 1_000 * windowMs;

describe("LocalCounter", () => {
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
});

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

it("on any schedule, the counter accepts below the limit, refuses at it, and reports the true remaining number and wait", () => {
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
