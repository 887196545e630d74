import { setTimeout as sleep } from "node:timers/promises";
import { log } from "@/lib/runtime/log";

/** Work that this process does again and again until it is told to stop. */
export type BackgroundLoop = {
  /** Begins nothing any more, and waits for what is under way. */
  stop: () => Promise<void>;
};

/**
 * Does a round of work, pauses, and does the next one, for as long as the process lives. After a round that fails the
 * next one comes all the same; the log has one line when rounds begin to fail, and one when they work again.
 *
 * @param failed - what the log says of a failure
 */
export function startBackgroundLoop(
  round: (signal: AbortSignal) => Promise<unknown>,
  { pauseMs, failed }: { pauseMs: number; failed: string },
): BackgroundLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isFailing = false;
  const note = (failure?: Error) => {
    if (failure && !isFailing) log().warn({ err: failure }, failed);
    if (!failure && isFailing) log().info(`over now: ${failed}`);
    isFailing = failure !== undefined;
  };
  const running = (async () => {
    while (!signal.aborted) {
      await round(signal).then(() => note(), note);
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
