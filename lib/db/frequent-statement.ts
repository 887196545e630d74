import type { Compilable, CompiledQuery, QueryResult } from "kysely";
import { nameStatement } from "@/lib/db/statement-names";
import { type Db, isPostgres } from "@/lib/db/store";

/** What a statement is given each time: a number, or a list as `listOf` and `rowsOf` take it. */
type Input = number | readonly unknown[];

/**
 * A statement that is built once per engine, because building costs more than executing it; and PostgreSQL plans it once per
 * connection.
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
    const parameters = query.parameters.map((value, at) => given[places[at] ?? -1] ?? value);
    return db.executeQuery<Row>({ ...query, parameters });
  };
}

function buildOnce<Inputs extends Input[], Row>(
  db: Db,
  build: (db: Db, ...inputs: Inputs) => Compilable<Row>,
  inputs: Inputs,
) {
  const samples = inputs.map((input, at) => (typeof input === "number" ? -1e15 - at : [`input ${at}`]));
  const query = build(db, ...(samples as Inputs)).compile();
  nameStatement(query.sql);
  const known = samples.map(toParameter);
  return { query, places: query.parameters.map((value) => known.indexOf(value as string | number)) };
}

const toParameter = (input: Input) => (typeof input === "number" ? input : JSON.stringify(input));
