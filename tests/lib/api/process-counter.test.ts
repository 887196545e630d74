import { describe, expect, it } from "vitest";
import { ProcessCounter } from "@/lib/api/process-counter";

const windowMs = 60_000;
const start = 1_000 * windowMs;

/** Spends until refused, at one instant, and answers how many were accepted. */
function spendAll(counter: ProcessCounter, key: string, nowMs: number): number {
  let accepted = 0;
  while (counter.spend(key, nowMs).allowed) accepted++;
  return accepted;
}

describe("ProcessCounter", () => {
  it("accepts the limit and tells what is left", () => {
    const counter = new ProcessCounter(3, windowMs);
    expect(counter.spend("a", start)).toEqual({ allowed: true, remaining: 2 });
    expect(counter.spend("a", start)).toEqual({ allowed: true, remaining: 1 });
    expect(counter.spend("a", start)).toEqual({ allowed: true, remaining: 0 });
    expect(counter.spend("a", start)).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: 61 });
  });

  it("keeps keys apart", () => {
    const counter = new ProcessCounter(1, windowMs);
    expect(counter.spend("a", start).allowed).toBe(true);
    expect(counter.spend("b", start).allowed).toBe(true);
    expect(counter.spend("a", start).allowed).toBe(false);
  });

  it("weighs the window before by what still overlaps", () => {
    const counter = new ProcessCounter(120, windowMs);
    expect(spendAll(counter, "a", start)).toBe(120);
    expect(spendAll(counter, "a", start + windowMs)).toBe(0);
    expect(spendAll(counter, "a", start + windowMs * 1.5)).toBe(60);
    expect(spendAll(counter, "a", start + windowMs * 3)).toBe(120);
  });

  it("does not count refusals", () => {
    const counter = new ProcessCounter(10, windowMs);
    for (let n = 0; n < 100; n++) counter.spend("a", start);
    expect(spendAll(counter, "a", start + windowMs * 1.5)).toBe(5);
  });

  it("accepts after exactly the wait it named, and named no second too many", () => {
    for (const limit of [1, 7, 60, 120]) {
      for (let fill = 1; fill <= limit; fill += Math.ceil(limit / 5)) {
        for (const intoMs of [0, 1, 499, 1000, 29_999, 59_999]) {
          const wait = refuseOnce(limit, fill, intoMs);
          const { counter, nowMs } = wait;
          const earlier = (wait.retryAfterSeconds - 1) * 1000 - 1;
          if (earlier > 0)
            expect(refuseOnce(limit, fill, intoMs).counter.spend("a", nowMs + earlier).allowed).toBe(false);
          expect(counter.spend("a", nowMs + wait.retryAfterSeconds * 1000).allowed).toBe(true);
          expect(wait.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        }
      }
    }
  });

  it("stays in its window when the clock steps back", () => {
    const counter = new ProcessCounter(2, windowMs);
    counter.spend("a", start + windowMs);
    expect(counter.spend("a", start).allowed).toBe(true);
    expect(counter.spend("a", start).allowed).toBe(false);
  });

  it("remembers at most its bound of keys, and forgets the oldest first", () => {
    const counter = new ProcessCounter(1, windowMs, 1000);
    for (let n = 0; n < 5000; n++) {
      counter.spend(`key ${n}`, start + n * 20);
      expect(counter.size).toBeLessThanOrEqual(1000);
    }
    expect(counter.spend("key 4999", start + 4999 * 20).allowed).toBe(false);
    expect(counter.spend("key 0", start + 4999 * 20).allowed).toBe(true);
  });
});

/** Fills one window with `fill`, then asks in the next at `intoMs` until refused. */
function refuseOnce(limit: number, fill: number, intoMs: number) {
  const counter = new ProcessCounter(limit, windowMs);
  for (let n = 0; n < fill; n++) counter.spend("a", start);
  const nowMs = start + windowMs + intoMs;
  spendAll(counter, "a", nowMs);
  const { retryAfterSeconds = 0 } = counter.spend("a", nowMs);
  return { counter, nowMs, retryAfterSeconds };
}
