import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const maxPauseMs = 60_000; // 1 minute
const maxThrottleMs = 250;
const batchSize = 20; // the maximum number of items claimed at once
const lookAgainMs = 500; // while items hang, others may come due

type QueueOptions<Item> = {
  maxConcurrent: number;
  minIntervalMs: number;
  /** Claims up to `limit` due items; `undefined` if none is due. */
  claim: (limit: number) => Promise<Item[] | undefined>;
  /** Processes one item, and returns for how many milliseconds no other may start. Never throws. */
  processItem: (item: Item) => Promise<number>;
  signal?: AbortSignal | undefined;
};

/**
 * Processes all due items, and returns when none is left. A slow item never blocks the others. A requested pause halves
 * the number of concurrent items, which then grows by one for every round without a pause. Throws what `claim` throws,
 * once the running items are done.
 */
export async function processQueue<Item>(options: QueueOptions<Item>): Promise<void> {
  const { maxConcurrent, minIntervalMs, claim, processItem, signal } = options;
  const running = new Set<Promise<void>>();
  const throttle = createThrottle(minIntervalMs);
  let concurrency = maxConcurrent;
  let pausedUntilMs = 0;
  const start = (item: Item) => {
    const task = processItem(item).then((pauseMs) => {
      concurrency =
        pauseMs > 0 ? Math.max(1, concurrency / 2) : Math.min(maxConcurrent, concurrency + 1 / concurrency);
      if (pauseMs > 0) pausedUntilMs = performance.now() + Math.min(pauseMs, maxPauseMs);
      running.delete(task);
    });
    running.add(task);
  };
  try {
    while (!signal?.aborted) {
      const pauseMs = pausedUntilMs - performance.now();
      if (pauseMs > 0) {
        await sleep(pauseMs, undefined, signal ? { signal } : {}).catch(() => {});
        continue;
      }
      const free = Math.floor(concurrency) - running.size;
      const limit = Math.min(free, batchSize);
      const items = free > 0 ? await claim(limit) : undefined;
      for (const item of items ?? []) {
        start(item);
        await throttle();
      }
      // Fewer than were asked for: none is left for now.
      if (items && (items.length === limit || running.size === 0)) continue;
      if (running.size === 0) return;
      await Promise.race([...running, sleep(lookAgainMs, undefined, { ref: false })]);
    }
  } finally {
    await Promise.all(running);
  }
}

/** Sleeps for as long as the event loop was busy since the last call, so that requests get half of the process. */
function createThrottle(minIntervalMs: number): () => Promise<void> {
  let last = performance.eventLoopUtilization();
  return async () => {
    if (minIntervalMs === 0) return;
    await sleep(minIntervalMs);
    const { active, idle } = performance.eventLoopUtilization(last);
    if (active > idle) await sleep(Math.min(active - idle, maxThrottleMs));
    last = performance.eventLoopUtilization();
  };
}
