import { setTimeout as sleep } from "node:timers/promises";
import { log } from "@/lib/process/log";

/** Work that this process does again and again until it is told to stop. */
export type Loop = {
  /** Begins nothing any more, and waits for what is under way. */
  stop: () => Promise<void>;
};

/**
 * Does a round of work, pauses, and does the next one, for as long as the process lives. A round that fails is
 * logged, and the next one comes all the same.
 *
 * @param failed - what the log says then
 */
export function startLoop(
  round: (signal: AbortSignal) => Promise<unknown>,
  { pauseMs, failed }: { pauseMs: number; failed: string },
): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      await round(signal).catch((failure) => log().warn({ err: failure }, failed));
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}
