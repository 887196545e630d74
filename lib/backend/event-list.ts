import { Refusal } from "@/lib/backend/refusals";
import type { Db } from "@/lib/db/store";
import { describeEvent } from "@/lib/events/event";
import { readEvents } from "@/lib/events/event-list";

/**
 * A page of events after a place: an event's id, or what `next` was. Throws a {@link Refusal} if what followed it is not here
 * any more.
 */
export async function listEvents(db: Db, after: string | undefined, limit: number) {
  const from = await readPlace(db, after);
  const events = await readEvents(db, from, limit);
  const last = events.at(-1);
  return {
    events: events.map((event) => ({ id: event.id, ...describeEvent(event) })),
    next: last ? `${last.number}.${last.id}` : (after ?? null),
  };
}

/**
 * The number of an event, also of the one that was deleted last, after which all are here. Its id tells it from another one with
 * this number, of a store that was restored.
 */
async function readPlace(db: Db, after: string | undefined): Promise<number> {
  if (after === undefined) return 0;
  const [, number, id] = /^(?:(\d{1,15})\.)?(evt_[\da-f]{32})$/.exec(after) ?? [];
  const row = await db
    .selectFrom("events")
    .select("number")
    .where("id", "=", id ?? "")
    .executeTakeFirst();
  if (row?.number != null && (number === undefined || Number(number) === row.number)) return row.number;
  const { swept, swept_event } = await db
    .selectFrom("event_numbers")
    .select(["swept", "swept_event"])
    .where("id", "=", 1)
    .executeTakeFirstOrThrow();
  const isSwept = number === undefined ? swept_event === `${swept}.${id}` : Number(number) === swept;
  if (!row && isSwept) return swept;
  throw new Refusal("events_gone");
}
