import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { deliveryDays, eventDays } from "@/lib/config/lifetimes";
import { sweep } from "@/lib/db/old-rows";
import { listOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { numberEvents } from "@/lib/events/event-list";

const batch = 500; // so that other writers do not wait long for the lock
const pauseMs = 10;

/** What was delivered or given up. */
const settled = {
  table: "webhook_deliveries",
  key: ["webhook_id", "number"],
  column: "at_ms",
  only: sql<boolean>`state <> 'waiting'`,
} as const;
const maxDeliveries = 100_000;

/**
 * Deletes old events, the oldest first, and notes through which number, and old deliveries. What was never listed is numbered
 * before.
 */
export async function sweepEvents(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  const untilMs = nowMs - eventDays * dayMs;
  const old = db.selectFrom("events").select("seq").where("at_ms", "<=", untilMs);
  while (!signal?.aborted && (await old.limit(1).executeTakeFirst())) {
    const numbered = await numberEvents(db, batch);
    const isDone = await transact(db, (transaction) => deleteOldest(transaction, untilMs, nowMs));
    // Younger ones are before it, by a clock that was ahead for a time: it goes with them.
    if (numbered === 0 && !isDone) break;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  await sweep(db, { ...settled, untilMs: nowMs - deliveryDays * dayMs, max: maxDeliveries }, signal);
}

/** Deletes the oldest events, and gives up what of them waits for a receiver. Returns whether it has deleted some. */
async function deleteOldest(transaction: Db, untilMs: number, nowMs: number): Promise<boolean> {
  const oldest = await transaction
    .selectFrom("events")
    .select(["id", "number", "account_id", "type", "at_ms"])
    .where("number", "is not", null)
    .orderBy("number")
    .limit(batch)
    .execute();
  // An event that another instance's clock made a little younger goes with the older ones behind it.
  const old = oldest.slice(0, oldest.findLastIndex(({ at_ms }) => at_ms <= untilMs) + 1);
  const { id, number = null } = old.at(-1) ?? {};
  if (number === null) return false;
  await transaction.deleteFrom("events").where("number", "<=", number).execute();
  await transaction
    .updateTable("webhook_deliveries")
    .set({ state: "failed", at_ms: nowMs })
    .where("state", "=", "waiting")
    .where("number", "<=", number)
    .execute();
  await transaction
    .updateTable("event_numbers")
    .set({ swept: number, swept_event: `${number}.${id}` })
    .where("id", "=", 1)
    .execute();
  const gone = old.filter(({ type }) => type === "account.deleted").map(({ account_id }) => account_id);
  await transaction
    .deleteFrom("event_counters")
    .where("account_id", "in", listOf(transaction, gone))
    .execute();
  return true;
}
