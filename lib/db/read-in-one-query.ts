import type { Compilable, InferResult, QueryResult } from "kysely";
import { jsonArrayFrom as asPostgresArray } from "kysely/helpers/postgres";
import { jsonArrayFrom as asSqliteArray } from "kysely/helpers/sqlite";
import { isPostgres } from "@/lib/db/event-triggers";
import type { Db } from "@/lib/db/store";

type Query = Parameters<typeof asSqliteArray<object>>[0] & Compilable<object>;

type Lists<Q extends Record<string, Query>> = { [Name in keyof Q]: InferResult<Q[Name]> };

/**
 * Runs several queries in one round trip and at one instant: each is an array of JSON in a single row. A query has to name
 * its columns, and numbers in its result are numbers.
 */
export async function readInOneQuery<Q extends Record<string, Query>>(db: Db, queries: Q): Promise<Lists<Q>> {
  return parseLists(await db.executeQuery<Lists<Q>>(selectLists(db, queries)));
}

/** The query of {@link readInOneQuery}, whose result {@link parseLists} takes. */
export function selectLists<Q extends Record<string, Query>>(db: Db, queries: Q): Compilable<Lists<Q>> {
  const asArray = isPostgres(db) ? asPostgresArray : asSqliteArray;
  return db.selectNoFrom(
    Object.entries(queries).map(([name, query]) => asArray(query).as(name)),
  ) as Compilable as Compilable<Lists<Q>>;
}

export function parseLists<L extends object>({ rows: [row] }: QueryResult<L>): L {
  const read = (value: unknown) => (typeof value === "string" ? JSON.parse(value) : value);
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, read(value)])) as L;
}
