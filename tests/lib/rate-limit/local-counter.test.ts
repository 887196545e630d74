import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, it } from "vitest";
import { maxCounterBytes } from "@/lib/config/limits";
import { CounterMemory, LocalCounter } from "@/lib/rate-limit/local-counter";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const windowMs = 60_000;
const start = 1_000 * windowMs;

const kibibyte = 1024;

it("keeps the latest keys, so that a flood of them takes a bounded memory and does not clear those in use", () => {
  const counter = new LocalCounter(1, windowMs, new CounterMemory(600 * kibibyte));
  for (let n = 0; n < 5000; n++) {
    counter.consume(`key ${n}`, start + n);
    expect(counter.consume("in use", start + n).allowed).toBe(n === 0);
  }
  expect(counter.consume("key 4501", start + 5000).allowed).toBe(false);
  expect(counter.consume("key 0", start + 5000).allowed).toBe(true);
});

it("all counters share one memory: a flood of one takes it from the largest, and what others count stays", () => {
  const memory = new CounterMemory(4000 * kibibyte);
  const [small, ...flooded] = Array.from({ length: 30 }, () => new LocalCounter(5, windowMs, memory));
  small?.consume("in all", start);
  let most = 0;
  for (let n = 0; n < 10_000; n++) {
    for (const counter of flooded) counter.consume(`key ${n}`, start + n / 1000);
    most = Math.max(
      most,
      [small, ...flooded].reduce((sum, counter) => sum + (counter?.bytes ?? 0), 0),
    );
  }
  expect(most).toBeLessThanOrEqual(4000 * kibibyte);
  expect(most).toBeGreaterThan(2000 * kibibyte);
  expect(small?.consume("in all", start + 11).remaining).toBe(3);
});

it("a client that is refused is remembered while 200,000 others ask once each, until its window has passed", () => {
  const counter = new LocalCounter(120, windowMs, new CounterMemory(maxCounterBytes));
  for (let n = 0; n < 120; n++) counter.consume("refused", start + n);
  const again = new Set<boolean>();
  for (let n = 0; n < 200_000; n++) {
    const nowMs = start + 200 + n / 5;
    counter.consume(`key ${n}`, nowMs);
    if (n % 50_000 === 49_999) again.add(counter.consume("refused", nowMs).allowed);
  }
  expect([...again]).toEqual([false]);
  expect(counter.bytes).toBeLessThanOrEqual(maxCounterBytes);
  expect(counter.consume("refused", start + windowMs - 1).allowed).toBe(false);
  expect(counter.consume("refused", start + windowMs).allowed).toBe(true);
  expect(counter.consume("refused", start + windowMs).allowed).toBe(false);
});

it("clients that are refused take half of the memory at most, whichever counters refuse them", () => {
  const memory = new CounterMemory(600 * kibibyte);
  const counters = Array.from({ length: 4 }, () => new LocalCounter(1, windowMs, memory));
  for (let n = 0; n < 20_000; n++) for (const one of counters) one.consume(`key ${n}`, start + n / 1000);
  const sum = (of: (counter: LocalCounter) => number) => counters.reduce((all, one) => all + of(one), 0);
  expect(sum(({ bytes }) => bytes)).toBeLessThanOrEqual(600 * kibibyte);
  expect(sum(({ bytes, forgettable }) => bytes - forgettable)).toBeLessThanOrEqual(300 * kibibyte);
  expect(counters.map((one) => one.consume("key 19999", start + 21).allowed)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

it("a client that goes on asking while it is refused is counted once in what is old", () => {
  const counter = new LocalCounter(1, windowMs, new CounterMemory(4 * kibibyte));
  counter.consume("asks on", start);
  const ofOne = counter.bytes;
  // Beyond a quarter of the memory, which is for four, what was used becomes old.
  for (const key of [1, 2, 3, "asks on", 4, 5, 6, 7]) counter.consume(`${key}`, start + 1);
  expect(counter.bytes / ofOne).toBe(8);
});

it("a million requests from new clients to each of thirty counters leave 20 MB, and a look at a counter leaves nothing", () => {
  const memory = new CounterMemory(maxCounterBytes);
  const counters = Array.from({ length: 30 }, () => new LocalCounter(120, windowMs, memory));
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < 1_000_000; n++) counters[n % 30]?.consume(`a hash of 22 letters ${n % 400_000}`, start);
  for (let n = 0; n < 100_000; n++) counters[n % 30]?.peek(`another hash, of more letters ${n}`, start);
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
  expect(counters.some(({ bytes }) => bytes > 0)).toBe(true);
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
