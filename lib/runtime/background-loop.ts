import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { log } from "@/lib/runtime/log";

const background = new AsyncLocalStorage<true>();

/** Runs work that lets every request's writes go first: on the embedded store, they take turns. */
export function inBackground<T>(work: () => T): T {
  return background.run(true, work);
}

export function isInBackground(): boolean {
  return background.getStore() === true;
}

/**
 * Runs rounds of work with a pause between them, for as long as the process lives. A failed round does not stop the
 * loop. One log line marks the first failure, and another one the recovery.
 *
 * @returns what stops the loop: it starts no further round, and waits for the current one
 */
export function startBackgroundLoop(
  round: (signal: AbortSignal) => Promise<unknown>,
  { afterMs = 0, pauseMs, failed }: { afterMs?: number; pauseMs: number; failed: string },
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isFailing = false;
  const recordOutcome = (failure?: Error) => {
    if (failure && !isFailing) log().warn({ err: failure }, failed);
    if (!failure && isFailing) log().info(`recovered: ${failed}`);
    isFailing = failure !== undefined;
  };
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  const running = inBackground(async () => {
    if (afterMs > 0) await pause(afterMs);
    while (!signal.aborted) {
      await round(signal).then(() => recordOutcome(), recordOutcome);
      await pause(pauseMs);
    }
  });
  return () => {
    stopping.abort();
    return running;
  };
}
