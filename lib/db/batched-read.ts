import { type AliasedRawBuilder, type CompiledQuery, sql } from "kysely";
import { nameStatement } from "@/lib/db/statement-names";
import { type Db, isPostgres } from "@/lib/db/store";

/** The parameters of a read. */
type Values = Record<string, string | number>;

/** The parameters of all reads in a batch, as rows of a table, each with its position (`place`). */
type Inputs<Given extends Values> = AliasedRawBuilder<Given & { place: number }, "asked">;

type Placed<Row> = Row & { place: number };

type Build<Given extends Values, Row> = (
  db: Db,
  inputs: Inputs<Given>,
) => { compile: () => CompiledQuery<Placed<Row>> };

/**
 * Defines a read of at most one row, for use on frequent requests. All reads in the same turn of the event loop become
 * one query, because a query's overhead is several times the cost of its row. Every caller gets data that was read
 * after its call.
 *
 * If the query fails, it fails for the whole batch, so pass only values that a client cannot make up. The query is
 * built and compiled once per database, and PostgreSQL plans it once per connection: name the columns that it selects,
 * because one added later must not change its result.
 *
 * @param build - builds the query from the parameters; it selects `place` and the columns of the row
 */
export function batchedRead<Given extends Values, Row>(
  build: Build<Given, Row>,
): (db: Db, values: Given) => Promise<Row | undefined> {
  const batches = new WeakMap<Db, { query: CompiledQuery<Placed<Row>>; waiting: Waiting<Given, Row>[] }>();
  return (db, values) => {
    const { query, waiting } = batches.get(db) ?? { query: compile(db, build, values), waiting: [] };
    batches.set(db, { query, waiting });
    return new Promise((resolve, reject) => {
      waiting.push({ values, resolve, reject });
      if (waiting.length === 1) setImmediate(() => execute(db, query, waiting.splice(0)));
    });
  };
}

type Waiting<Given, Row> = {
  values: Given;
  resolve: (row: Row | undefined) => void;
  reject: (failure: unknown) => void;
};

async function execute<Row>(
  db: Db,
  query: CompiledQuery<Placed<Row>>,
  together: readonly Waiting<Values, Row>[],
): Promise<void> {
  try {
    const asked = JSON.stringify(together.map(({ values }, place) => ({ place, ...values })));
    const parameters = query.parameters.map((value) => (value === inputs ? asked : value));
    const { rows } = await db.executeQuery<Placed<Row>>({ ...query, parameters });
    for (const row of rows) together[row.place]?.resolve(row);
    // All other reads found no row; resolving a promise a second time has no effect.
    for (const { resolve } of together) resolve(undefined);
  } catch (failure) {
    for (const { reject } of together) reject(failure);
  }
}

/** Stands in a compiled query for the parameters of a batch, which are one array of JSON. */
const inputs = Symbol("inputs");

/** @param example - an example of the parameters, for their names and types */
function compile<Given extends Values, Row>(db: Db, build: Build<Given, Row>, example: Given) {
  const columns = Object.entries({ place: 0, ...example }).map(([name, value]) => {
    if (!isPostgres(db)) return sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`;
    return sql`${sql.ref(name)} ${sql.raw(typeof value === "number" ? "bigint" : "text")}`;
  });
  const table = isPostgres(db)
    ? sql`* from json_to_recordset(${inputs}) as list (${sql.join(columns)})`
    : sql`${sql.join(columns)} from json_each(${inputs})`;
  const query = build(db, sql<Given & { place: number }>`(select ${table})`.as("asked")).compile();
  nameStatement(query.sql);
  return query;
}
