import fc from "fast-check";
import { expect, it } from "vitest";
import { LocalCounter } from "@/lib/rate-limit/local-counter";

const windowMs = 60_000;
const start = 1_000 * windowMs;

it("keeps the latest keys, so that a flood of them takes a bounded memory and does not clear those in use", () => {
  const counter = new LocalCounter(1, windowMs, 1000);
  for (let n = 0; n < 5000; n++) {
    counter.consume(`key ${n}`, start + n);
    expect(counter.consume("in use", start + n).allowed).toBe(n === 0);
  }
  expect(counter.consume("key 4501", start + 5000).allowed).toBe(false);
  expect(counter.consume("key 0", start + 5000).allowed).toBe(true);
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
