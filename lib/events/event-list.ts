import { listOf, rowsOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { eventColumns, type StoredEvent } from "@/lib/events/event";

/**
 * The events after this number, oldest first. They are numbered here, once they are visible: transactions end in any order,
 * so a number that was drawn by one could come into view after a later one was read. An account's own keep the order in which
 * they were written, because what changes an account locks it.
 *
 * @param types - only these
 */
export async function readEvents(
  db: Db,
  after: number,
  limit: number,
  types?: readonly string[],
): Promise<StoredEvent[]> {
  const read = () => {
    const events = db.selectFrom("events").select(eventColumns).where("number", ">", after);
    return (types ? events.where("type", "in", types) : events).orderBy("number").limit(limit).execute();
  };
  const rows = await read();
  if (rows.length === limit || (await numberEvents(db, limit - rows.length)) === 0) return rows;
  return read();
}

/** The last number of an event. */
export async function readLastNumber(db: Db): Promise<number> {
  const numbers = db.selectFrom("event_numbers").select("last").where("id", "=", 1);
  return (await numbers.executeTakeFirstOrThrow()).last;
}

/** Numbers the oldest events that have no number. Returns how many it has numbered. */
export async function numberEvents(db: Db, most: number): Promise<number> {
  const unnumbered = (from: Db) =>
    from
      .selectFrom("events")
      .select(["seq", "account_id"])
      .where("number", "is", null)
      .orderBy("seq")
      .limit(most);
  if (!(await unnumbered(db).limit(1).executeTakeFirst())) return 0;
  return transact(db, async (transaction) => {
    const { last } = await transaction
      .selectFrom("event_numbers")
      .select("last")
      .where("id", "=", 1)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const events = await unnumbered(transaction).execute();
    if (events.length === 0) return 0;
    const accounts = [...new Set(events.map(({ account_id }) => account_id))];
    const known = await transaction
      .selectFrom("event_counters")
      .selectAll()
      .where("account_id", "in", listOf(transaction, accounts))
      .execute();
    const counters = new Map(known.map(({ account_id, last }) => [account_id, last]));
    const numbered = events.map(({ seq, account_id }, at) => {
      const account_number = (counters.get(account_id) ?? 0) + 1;
      counters.set(account_id, account_number);
      return { seq, number: last + at + 1, account_number };
    });
    const types = { seq: "bigint", number: "bigint", account_number: "bigint" } as const;
    await transaction
      .updateTable("events")
      .from(rowsOf(transaction, numbered, types))
      .set(({ ref }) => ({ number: ref("rows.number"), account_number: ref("rows.account_number") }))
      .whereRef("events.seq", "=", "rows.seq")
      .execute();
    await transaction
      .insertInto("event_counters")
      .values([...counters].map(([account_id, last]) => ({ account_id, last })))
      .onConflict((conflict) =>
        conflict.column("account_id").doUpdateSet(({ ref }) => ({ last: ref("excluded.last") })),
      )
      .execute();
    await transaction
      .updateTable("event_numbers")
      .set({ last: last + events.length })
      .where("id", "=", 1)
      .execute();
    return events.length;
  });
}
