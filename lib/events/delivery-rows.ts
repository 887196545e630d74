import { listOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import { eventColumns, type StoredEvent } from "@/lib/events/event";
import type { Answer } from "@/lib/events/receiver";

const writtenAtOnce = 500;

/** An event on its way to a receiver. */
export type Item = {
  event: StoredEvent;
  number: number;
  attempts: number;
  firstAtMs: number | null;
  nextAtMs: number;
  /** Whether the store has it as waiting. */
  isStored: boolean;
};

/** What became of it, until the store has it. */
export type Settled = {
  item: Item;
  state: "waiting" | "delivered" | "failed";
  atMs: number | null;
  said?: Answer;
};

/** The first events that wait of each account, or of these. One that is no longer kept is given up with it. */
export async function readWaiting(db: Db, id: string, most: number, accounts?: string[]): Promise<Item[]> {
  let waiting = db
    .selectFrom("webhook_deliveries as delivery")
    .innerJoin("events", "events.number", "delivery.number")
    .select(eventColumns.map((name) => `events.${name}` as const))
    .select(["attempts", "first_at_ms", "next_at_ms"])
    .select(({ fn }) =>
      fn
        .agg<number>("row_number")
        .over((over) => over.partitionBy("events.account_id").orderBy("events.number"))
        .as("place"),
    )
    .where("webhook_id", "=", id)
    .where("state", "=", "waiting");
  if (accounts) waiting = waiting.where("events.account_id", "in", listOf(db, accounts));
  const first = db.selectFrom(waiting.as("waiting")).selectAll().where("place", "<=", most);
  const rows = await first.orderBy("number").execute();
  return rows.map(({ attempts, first_at_ms: firstAtMs, next_at_ms: nextAtMs, place: _, ...event }) => {
    return { event, number: Number(event.number), attempts, firstAtMs, nextAtMs, isStored: true };
  });
}

/** Has the store keep the last that is known of each, for this webhook. */
export async function writeSettled(transaction: Db, id: string, settled: Settled[]): Promise<void> {
  const rows = [...new Map(settled.map((one) => [one.item.number, toRow(id, one)])).values()];
  for (let at = 0; at < rows.length; at += writtenAtOnce)
    await transaction
      .insertInto("webhook_deliveries")
      .values(rows.slice(at, at + writtenAtOnce))
      .onConflict((conflict) =>
        conflict.columns(["webhook_id", "number"]).doUpdateSet(({ ref }) => ({
          state: ref("excluded.state"),
          attempts: ref("excluded.attempts"),
          first_at_ms: ref("excluded.first_at_ms"),
          next_at_ms: ref("excluded.next_at_ms"),
          at_ms: ref("excluded.at_ms"),
          status: ref("excluded.status"),
          answer: ref("excluded.answer"),
        })),
      )
      .execute();
}

function toRow(webhook_id: string, { item, state, atMs, said }: Settled) {
  const { number, event, attempts, firstAtMs: first_at_ms, nextAtMs: next_at_ms } = item;
  const { id: event_id, account_id, type } = event;
  const { status = null, answer = null } = said ?? {};
  const told = { webhook_id, number, event_id, account_id, type };
  return { ...told, state, attempts, first_at_ms, next_at_ms, at_ms: atMs, status, answer };
}
