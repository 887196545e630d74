import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";

/*
 * During an outage of the store, the runner that sent a mail cannot record that, and the mail's lease expires. When the
 * store is back, that runner records it within seconds; only after those may another one take the mail for abandoned.
 */

const settlingMs = 10_000; // an attempt that the outage holds up takes 5 s at most
const retryEveryMs = 250;
const patienceMs = { running: 5 * 60_000, stopping: 10_000 };

const failedAtMs = new WeakMap<Db, number>();

/** Claims mails. `isSettling`: mails that were claimed before must be left alone, because the store was just away. */
export async function reclaimExpiredLeases<T>(
  db: Db,
  claim: (isSettling: boolean) => Promise<T>,
): Promise<T> {
  const sinceMs = performance.now() - (failedAtMs.get(db) ?? Number.NEGATIVE_INFINITY);
  try {
    return await claim(sinceMs < settlingMs);
  } catch (failure) {
    failedAtMs.set(db, performance.now());
    throw failure;
  }
}

/**
 * Records what became of mails, again until the store answers. Throws after five minutes, or ten seconds while the
 * process stops; the mails are then sent again.
 */
export async function recordThroughOutage(
  record: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const startedAtMs = performance.now(); ; ) {
    try {
      await record();
      return;
    } catch (failure) {
      const waitedMs = performance.now() - startedAtMs;
      if (waitedMs > (signal?.aborted ? patienceMs.stopping : patienceMs.running)) throw failure;
      log().warn({ err: failure }, "the outcome of mails could not be recorded; it is tried again");
      await sleep(retryEveryMs);
    }
  }
}
