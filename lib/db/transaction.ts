import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { Tables } from "@/lib/db/tables";
import { jitter } from "@/lib/runtime/jitter";
import { metrics } from "@/lib/runtime/metrics";

const maxTries = 10;
const lastTryWithinMs = 1500; // so that the last one ends within the two seconds that callers wait
const maxFirstPauseMs = 4;

/**
 * The SQLSTATEs of work that was undone because it met other work, serialization_failure and deadlock_detected, or because a
 * pooler led it to a server that was told of another's statements: invalid_sql_statement_name, duplicate_prepared_statement.
 */
const conflicts = new Set<unknown>(["40001", "40P01", "26000", "42P05"]);

/**
 * Runs work in a transaction, or in the caller's if `db` is one. A transaction that met another and was undone for it is
 * repeated, so `work` may run several times: what it keeps outside the transaction has to be that of its last run.
 */
export function transact<T>(
  db: Kysely<Tables>,
  work: (transaction: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return db.isTransaction ? work(db) : repeatConflicts(() => db.transaction().execute(work));
}

/** Repeats what was undone because of a conflict, after growing pauses by chance. Throws the last failure. */
export async function repeatConflicts<T>(work: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + lastTryWithinMs;
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (failure) {
      const { code, cause } = failure as { code?: string; cause?: { code?: string } };
      const state = code ?? cause?.code;
      if (!state || !conflicts.has(state) || tries === maxTries || performance.now() >= untilMs)
        throw failure;
      metrics()?.storeRepeats.inc({ state });
      await sleep(jitter(0, maxFirstPauseMs * 2 ** (tries - 1), Math.random()));
    }
  }
}
