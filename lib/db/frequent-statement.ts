import { createHash } from "node:crypto";
import type { Compilable, CompiledQuery, Kysely, QueryResult } from "kysely";
import { isPostgres } from "@/lib/db/event-triggers";
import type { Tables } from "@/lib/db/tables";

type Db = Kysely<Tables>;

const names = new Map<string, string>();

/**
 * The name of a frequent statement, by which PostgreSQL parses and plans it once per connection; `undefined` of any other.
 * It is a digest of the text: behind a pooler that knows nothing of names, another process may have used the connection
 * before.
 */
export const statementName = (sql: string): string | undefined => names.get(sql);

type Value = string | number | null;

/** What a statement is given each time: a value, a list as `listOf` and `rowsOf` take it, or a row, always of these columns. */
type Input = Value | readonly unknown[] | Readonly<Record<string, Value>>;

/**
 * A statement that is built once per engine, because building costs more than executing it.
 *
 * @param build - builds it with samples in place of its inputs, which must become its parameters as they are
 */
export function frequentStatement<Inputs extends Input[], Row>(
  build: (db: Db, ...inputs: Inputs) => Compilable<Row>,
): (db: Db, ...inputs: Inputs) => Promise<QueryResult<Row>> {
  const built = new Map<boolean, Built<Row>>();
  return (db, ...inputs) => {
    const { query, places, columns } = built.get(isPostgres(db)) ?? buildOnce(db, build, inputs);
    built.set(isPostgres(db), { query, places, columns });
    const given = inputs.flatMap((input, at) => toParameters(input, columns[at]));
    const parameters = query.parameters.map((value, at) => {
      const place = places[at] ?? -1;
      return place < 0 ? value : given[place];
    });
    return db.executeQuery<Row>({ ...query, parameters });
  };
}

/** A statement, the place of each of its parameters among what is given, and the columns of the inputs that are rows. */
type Built<Row> = { query: CompiledQuery<Row>; places: number[]; columns: (string[] | undefined)[] };

function buildOnce<Inputs extends Input[], Row>(
  db: Db,
  build: (db: Db, ...inputs: Inputs) => Compilable<Row>,
  inputs: Inputs,
): Built<Row> {
  const columns = inputs.map((input) => (isRow(input) ? Object.keys(input) : undefined));
  // A symbol becomes a parameter as any value does, and nothing can be computed from one.
  const samples = inputs.map((input, at) => {
    if (Array.isArray(input)) return [`input ${at}`];
    const names = columns[at];
    return names ? Object.fromEntries(names.map((name) => [name, Symbol(name)])) : Symbol(`input ${at}`);
  });
  const query = build(db, ...(samples as unknown[] as Inputs)).compile();
  names.set(query.sql, createHash("sha256").update(query.sql).digest("hex").slice(0, 32)); // 63 at most
  const known = samples.flatMap((sample, at) => toParameters(sample, columns[at]));
  return { query, places: query.parameters.map((value) => known.indexOf(value)), columns };
}

const isRow = (input: unknown): input is Readonly<Record<string, unknown>> =>
  typeof input === "object" && input !== null && !Array.isArray(input);

function toParameters(input: unknown, columns: string[] | undefined): unknown[] {
  if (columns && isRow(input)) return columns.map((name) => input[name]);
  return [Array.isArray(input) ? JSON.stringify(input) : input];
}
