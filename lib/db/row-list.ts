import { sql } from "kysely";
import { isPostgres } from "@/lib/db/event-triggers";
import type { Db } from "@/lib/db/store";

/** Texts for the right side of `in`: one parameter of any length, so that one statement serves every list. */
export function listOf(db: Db, texts: readonly string[]) {
  const json = JSON.stringify(texts);
  return isPostgres(db)
    ? sql<string>`(select json_array_elements_text(${json}))`
    : sql<string>`(select value from json_each(${json}))`;
}

/**
 * Rows to select from, insert or update by: one parameter of any length. A name that a row lacks is null. Texts must be
 * well-formed and without NUL, which PostgreSQL cannot store.
 */
export function rowsOf<Row extends object>(
  db: Db,
  rows: readonly Row[],
  types: Record<keyof Row & string, "text" | "bigint">,
) {
  const json = JSON.stringify(rows);
  const names = Object.keys(types) as (keyof Row & string)[];
  const typed = names.map((name) => sql`${sql.ref(name)} ${sql.raw(types[name])}`);
  const read = names.map((name) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`);
  const selected = isPostgres(db)
    ? sql<Row>`(select * from json_to_recordset(${json}) as list (${sql.join(typed)}))`
    : sql<Row>`(select ${sql.join(read)} from json_each(${json}))`;
  return selected.as("rows");
}
