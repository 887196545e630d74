import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const longestPauseMs = 60_000; // 1 minute
const longestBreathMs = 250;

type Work<Item> = {
  /** How many items are worked on at once, at most. */
  slots: number;
  /** How many are claimed together, at most. */
  batch: number;
  /** How long after an item the next one is begun, at the earliest. */
  everyMs: number;
  /** Takes up to so many items that are due; `undefined` when none is. */
  claim: (most: number) => Promise<Item[] | undefined>;
  /** Deals with one item, and answers for how long nothing else is to be begun, in milliseconds. Never throws. */
  processItem: (item: Item) => Promise<number>;
  /** Nothing is begun after it. */
  signal?: AbortSignal | undefined;
};

/**
 * Deals with all that is due, and returns when nothing is and all is dealt with. Each item has a slot of its own: one
 * that hangs holds up no other. Whoever is asked to pause has been too fast: half as many slots are used then, and one
 * more for every round of them that goes well. Throws what `claim` throws, once what is under way is dealt with.
 */
export async function processQueue<Item>(work: Work<Item>): Promise<void> {
  const { slots, batch, everyMs, claim, processItem, signal } = work;
  const underWay = new Set<Promise<void>>();
  const breathe = breather(everyMs);
  let open = slots;
  let pausedUntilMs = 0;
  const begin = (item: Item) => {
    const dealing = processItem(item).then((pauseMs) => {
      open = pauseMs > 0 ? Math.max(1, open / 2) : Math.min(slots, open + 1 / open);
      if (pauseMs > 0) pausedUntilMs = performance.now() + Math.min(pauseMs, longestPauseMs);
      underWay.delete(dealing);
    });
    underWay.add(dealing);
  };
  try {
    while (!signal?.aborted) {
      const pauseMs = pausedUntilMs - performance.now();
      const free = Math.floor(open) - underWay.size;
      if (pauseMs > 0) {
        await sleep(pauseMs, undefined, signal ? { signal } : {}).catch(() => {});
      } else if (free <= 0) {
        await Promise.race(underWay);
      } else {
        const items = await claim(Math.min(free, batch));
        for (const item of items ?? []) {
          begin(item);
          await breathe();
        }
        if (items) continue;
        if (underWay.size === 0) return;
        await Promise.race(underWay);
      }
    }
  } finally {
    await Promise.all(underWay);
  }
}

/**
 * Pauses that leave the process half of its time: whatever it was busy with since the last one, it rests as long. The
 * work here is a guest in a process that has requests to answer.
 */
function breather(minMs: number): () => Promise<void> {
  let last = performance.eventLoopUtilization();
  return async () => {
    if (minMs === 0) return;
    await sleep(minMs);
    const { active, idle } = performance.eventLoopUtilization(last);
    if (active > idle) await sleep(Math.min(active - idle, longestBreathMs));
    last = performance.eventLoopUtilization();
  };
}
