import { describe, expect, it, vi } from "vitest";
import { processQueue } from "@/lib/mail/outbox/adaptive-concurrency";

/** A queue of `length` due numbers, claimed in order. */
function queue(length: number) {
  let next = 0;
  const limits: number[] = [];
  const claim = async (limit: number) => {
    limits.push(limit);
    const items = Array.from({ length: Math.min(limit, length - next) }, () => next++);
    return items.length > 0 ? items : undefined;
  };
  return { claim, limits };
}

const options = { maxConcurrent: 3, minIntervalMs: 0 };

describe("processQueue", () => {
  it("keeps a minimum interval between the starts of two items", async () => {
    const startedAtMs: number[] = [];
    await processQueue({
      ...options,
      minIntervalMs: 30,
      claim: queue(4).claim,
      processItem: async () => startedAtMs.push(performance.now()) * 0,
    });
    const pausesMs = startedAtMs.slice(1).map((atMs, before) => atMs - (startedAtMs[before] ?? 0));
    expect(Math.min(...pausesMs)).toBeGreaterThan(28);
  });

  it("is not blocked by an item that hangs, and claims what comes due meanwhile", async () => {
    const batches = [[0], [1, 2], undefined, [3]];
    const { promise: hanging, resolve } = Promise.withResolvers<number>();
    await processQueue({
      ...options,
      claim: async () => batches.shift(),
      async processItem(item) {
        if (item === 3) resolve(0);
        return item === 0 ? hanging : 0;
      },
    });
    expect(batches).toEqual([]);
  });

  it("starts nothing during a pause, and runs fewer items at once afterwards", async () => {
    const { claim, limits } = queue(6);
    const startedAtMs: number[] = [];
    await processQueue({
      maxConcurrent: 4,
      minIntervalMs: 0,
      claim,
      async processItem(item) {
        startedAtMs.push(performance.now());
        return item === 0 ? 50 : 0;
      },
    });
    expect((startedAtMs[4] ?? 0) - (startedAtMs[0] ?? 0)).toBeGreaterThanOrEqual(50);
    // Four; then half, for the item that requests a pause, plus the growth for the other three.
    expect(limits.slice(0, 2)).toEqual([4, 3]);
  });

  it("pauses for a minute at most, whatever a provider asks for", async () => {
    const pausesMs: number[] = [];
    const stopping = new AbortController();
    const sleep = async (ms: number) => {
      if (ms < 1000) return; // it looks whether another item is due
      pausesMs.push(ms);
      stopping.abort();
    };
    vi.resetModules();
    vi.doMock("node:timers/promises", () => ({ setTimeout: sleep }));
    const { processQueue } = await import("@/lib/mail/outbox/adaptive-concurrency");
    vi.doUnmock("node:timers/promises");
    vi.resetModules(); // or later files of this worker would get the one that does not sleep, and loop for ever
    const { claim } = queue(1);
    const { signal } = stopping;
    await processQueue({ ...options, claim, processItem: async () => 24 * 60 * 60_000, signal });
    expect(pausesMs.map((ms) => Math.ceil(ms / 1000))).toEqual([60]);
  });

  it("throws the error of a claim, once the running items are done", async () => {
    let isDone = false;
    const batches = [[1]];
    const processed = processQueue({
      ...options,
      claim: async () => batches.shift() ?? Promise.reject(new Error("the store is away")),
      async processItem() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        isDone = true;
        return 0;
      },
    });
    await expect(processed).rejects.toThrow("the store is away");
    expect(isDone).toBe(true);
  });

  it("starts nothing after it is aborted", async () => {
    const { claim } = queue(100);
    const stopping = new AbortController();
    let started = 0;
    await processQueue({
      ...options,
      claim,
      async processItem() {
        if (++started === 5) stopping.abort();
        await new Promise(setImmediate);
        return 0;
      },
      signal: stopping.signal,
    });
    expect(started).toBeLessThanOrEqual(7);
  });
});
