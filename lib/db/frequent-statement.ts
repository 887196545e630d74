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

/** What a statement is given each time: a value, or a list as `listOf` and `rowsOf` take it. */
type Input = string | number | null | readonly unknown[];

/**
 * A statement that is built once per engine, because building costs more than executing it.
 *
 * @param build - builds it with samples in place of its inputs, which must become its parameters as they are
 */
export function frequentStatement<Inputs extends Input[], Row>(
  build: (db: Db, ...inputs: Inputs) => Compilable<Row>,
): (db: Db, ...inputs: Inputs) => Promise<QueryResult<Row>> {
  const built = new Map<boolean, { query: CompiledQuery<Row>; places: number[] }>();
  return (db, ...inputs) => {
    const { query, places } = built.get(isPostgres(db)) ?? buildOnce(db, build, inputs);
    built.set(isPostgres(db), { query, places });
    const given = inputs.map(toParameter);
    const parameters = query.parameters.map((value, at) => {
      const place = places[at] ?? -1;
      return place < 0 ? value : given[place];
    });
    return db.executeQuery<Row>({ ...query, parameters });
  };
}

function buildOnce<Inputs extends Input[], Row>(
  db: Db,
  build: (db: Db, ...inputs: Inputs) => Compilable<Row>,
  inputs: Inputs,
) {
  // A symbol becomes a parameter as any value does, and nothing can be computed from one.
  const samples = inputs.map((input, at) => (Array.isArray(input) ? [`input ${at}`] : Symbol(`input ${at}`)));
  const query = build(db, ...(samples as unknown[] as Inputs)).compile();
  names.set(query.sql, createHash("sha256").update(query.sql).digest("hex").slice(0, 32)); // 63 at most
  const known: unknown[] = samples.map(toParameter);
  return { query, places: query.parameters.map((value) => known.indexOf(value)) };
}

const toParameter = (input: unknown) => (Array.isArray(input) ? JSON.stringify(input) : input);
