import { describe, expect, it } from "vitest";
import { processQueue } from "@/lib/mail/queue";

/** So many numbers that are due, given out in order. */
function queue(length: number) {
  let next = 0;
  const asked: number[] = [];
  const claim = async (most: number) => {
    asked.push(most);
    const items = Array.from({ length: Math.min(most, length - next) }, () => next++);
    return items.length > 0 ? items : undefined;
  };
  return { claim, asked };
}

const work = { slots: 3, batch: 2, everyMs: 0 };

describe("drain", () => {
  it("deals with all that is due, so many at once, and returns when that is done", async () => {
    const { claim, asked } = queue(20);
    const done: number[] = [];
    let atOnce = 0;
    let most = 0;
    await processQueue({
      ...work,
      claim,
      async processItem(item) {
        most = Math.max(most, ++atOnce);
        await new Promise(setImmediate);
        atOnce--;
        done.push(item);
        return 0;
      },
    });
    expect(done.sort((one, other) => one - other)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(most).toBe(3);
    expect(Math.min(...asked), "it asks for none where there is no slot").toBe(1);
  });

  it("begins one so long after the one before, at the earliest, so that it is a guest in its process", async () => {
    const begunAtMs: number[] = [];
    await processQueue({
      ...work,
      everyMs: 30,
      claim: queue(4).claim,
      processItem: async () => begunAtMs.push(performance.now()) * 0,
    });
    const pausesMs = begunAtMs.slice(1).map((atMs, before) => atMs - (begunAtMs[before] ?? 0));
    expect(Math.min(...pausesMs)).toBeGreaterThan(28);
  });

  it("goes on while some of what is due turns out to be nothing to deal with", async () => {
    const batches = [[], [], [1], [], [2], undefined];
    const done: number[] = [];
    await processQueue({
      ...work,
      claim: async () => batches.shift(),
      processItem: async (item: number) => done.push(item) * 0,
    });
    expect(done).toEqual([1, 2]);
  });

  it("is held up by none that hangs, but for its own slot", async () => {
    const { claim } = queue(50);
    let release = () => {};
    const hanging = new Promise<number>((resolve) => {
      release = () => resolve(0);
    });
    let done = 0;
    const drained = processQueue({
      ...work,
      claim,
      processItem(item) {
        if (item === 0) return hanging;
        if (++done === 49) release();
        return Promise.resolve(0);
      },
    });
    await drained;
    expect(done).toBe(49);
  });

  it("begins nothing while it is asked to pause, and fewer at once then", async () => {
    const { claim, asked } = queue(6);
    const begun: number[] = [];
    await processQueue({
      slots: 4,
      batch: 4,
      everyMs: 0,
      claim,
      async processItem(item) {
        begun.push(performance.now());
        return item === 0 ? 50 : 0;
      },
    });
    expect((begun[4] ?? 0) - (begun[0] ?? 0)).toBeGreaterThanOrEqual(50);
    // Four, half of that for the one that is told to pause, and more again for the three that are not.
    expect(asked.slice(0, 2)).toEqual([4, 3]);
  });

  it("throws what keeps it from claiming, once what is under way is dealt with", async () => {
    let isDone = false;
    const batches = [[1]];
    const drained = processQueue({
      ...work,
      claim: async () => batches.shift() ?? Promise.reject(new Error("the store is away")),
      async processItem() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        isDone = true;
        return 0;
      },
    });
    await expect(drained).rejects.toThrow("the store is away");
    expect(isDone).toBe(true);
  });

  it("begins nothing once it is told to stop", async () => {
    const { claim } = queue(100);
    const stopping = new AbortController();
    let begun = 0;
    await processQueue({
      ...work,
      claim,
      async processItem() {
        if (++begun === 5) stopping.abort();
        await new Promise(setImmediate);
        return 0;
      },
      signal: stopping.signal,
    });
    expect(begun).toBeLessThanOrEqual(7);
  });
});
