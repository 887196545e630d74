import { setTimeout as sleep } from "node:timers/promises";

const longestPauseMs = 60_000; // 1 minute

type Work<Item> = {
  /** How many items are worked on at once. */
  slots: number;
  /** Takes up to so many items that are due; none when there are none. */
  claim: (most: number) => Promise<Item[]>;
  /** Deals with one item, and answers for how long nothing else is to be begun, in milliseconds. Never throws. */
  deal: (item: Item) => Promise<number>;
  /** Nothing is begun after it. */
  signal?: AbortSignal | undefined;
};

/**
 * Deals with all that is due, and returns when nothing is and all is dealt with. Each item has a slot of its own: one
 * that hangs holds up no other. Throws what `claim` throws, once what is under way is dealt with.
 */
export async function drain<Item>({ slots, claim, deal, signal }: Work<Item>): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let pausedUntilMs = 0;
  const begin = (item: Item) => {
    const dealing = deal(item).then((pauseMs) => {
      pausedUntilMs = Math.max(pausedUntilMs, performance.now() + Math.min(pauseMs, longestPauseMs));
      underWay.delete(dealing);
    });
    underWay.add(dealing);
  };
  try {
    while (!signal?.aborted) {
      const pauseMs = pausedUntilMs - performance.now();
      if (pauseMs > 0) {
        await sleep(pauseMs, undefined, signal ? { signal } : {}).catch(() => {});
        continue;
      }
      const items = underWay.size < slots ? await claim(slots - underWay.size) : [];
      for (const item of items) begin(item);
      if (underWay.size === 0) return;
      if (items.length === 0 || underWay.size === slots) await Promise.race(underWay);
    }
  } finally {
    await Promise.all(underWay);
  }
}
