import type { Compilable, InferResult } from "kysely";
import { jsonArrayFrom as asPostgresArray } from "kysely/helpers/postgres";
import { jsonArrayFrom as asSqliteArray } from "kysely/helpers/sqlite";
import { type Db, isPostgres } from "@/lib/db/store";

type Query = Parameters<typeof asSqliteArray<object>>[0] & Compilable<object>;

/**
 * Runs several queries in one round trip and at one instant: each is an array of JSON in a single row. A query has to name
 * its columns, and numbers in its result are numbers.
 */
export async function readInOneQuery<Q extends Record<string, Query>>(
  db: Db,
  queries: Q,
): Promise<{ [Name in keyof Q]: InferResult<Q[Name]> }> {
  const asArray = isPostgres(db) ? asPostgresArray : asSqliteArray;
  const row = await db
    .selectNoFrom(Object.entries(queries).map(([name, query]) => asArray(query).as(name)))
    .executeTakeFirstOrThrow();
  const read = (value: unknown) => (typeof value === "string" ? JSON.parse(value) : value);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, read(value)])) as never;
}
