import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** The rows of a table whose time has come, by its key and the column with the time. */
export type OldRows = {
  table: keyof Tables;
  key: readonly string[];
  column: string;
  untilMs: number;
  /** Only those that this is true of, in the words of a partial index. */
  only?: RawBuilder<boolean>;
};

/** Deletes up to `limit` of them, the oldest first, and returns how many. */
export async function deleteOld(db: Db, old: OldRows, limit: number): Promise<number> {
  const { table, key, column, untilMs } = old;
  const batch = select(db, old).select(key).where(column, "<=", untilMs).orderBy(column).limit(limit);
  const { numDeletedRows } = await untyped(db)
    .deleteFrom(table)
    .where(sql`(${sql.join(key.map((name) => sql.ref(name)))})`, "in", batch.forUpdate().skipLocked())
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** The embedded store blocks during a deletion, so each batch takes a few milliseconds, followed by a pause as long. */
export const batchRows = 100;
const pauseMs = 10;

/** Deletes all of them, in batches, and the oldest ones beyond `max`. Returns whether there were more. */
export async function sweep(
  db: Db,
  { max, ...old }: OldRows & { max?: number },
  signal?: AbortSignal,
): Promise<boolean> {
  const { column } = old;
  const newestFirst = select(db, old).select(column).orderBy(column, "desc");
  const beyond = max === undefined ? undefined : await newestFirst.offset(max).limit(1).executeTakeFirst();
  const untilMs = Math.max(old.untilMs, Number(beyond?.[column] ?? 0));
  while (!signal?.aborted && (await deleteOld(db, { ...old, untilMs }, batchRows)) === batchRows) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return untilMs > old.untilMs;
}

function select(db: Db, { table, only = sql`1 = 1` }: OldRows) {
  return untyped(db).selectFrom(table).where(only);
}

const untyped = (db: Db) => db as unknown as Kysely<Record<string, Record<string, unknown>>>;
