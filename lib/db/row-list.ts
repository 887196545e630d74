import { sql } from "kysely";
import { isPostgres } from "@/lib/db/event-triggers";
import type { Db } from "@/lib/db/store";
import { addedColumns, firstTables, type TableColumns, type Tables } from "@/lib/db/tables";

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

/** The types of a table's columns for {@link rowsOf}: of these, or of all. */
export function typesOf<Table extends keyof Tables, Name extends keyof Tables[Table] & string>(
  table: Table,
  names?: readonly Name[],
): Record<Name, "text" | "bigint"> {
  const [first, added]: TableColumns[] = [firstTables, addedColumns];
  const columns = Object.entries({ ...first?.[table], ...added?.[table] });
  const chosen = columns.filter(([name]) => names?.includes(name as Name) ?? true);
  return Object.fromEntries(chosen.map(([name, sql]) => [name, sql.split(" ")[0]])) as Record<Name, "text">;
}
