import type { CompiledQuery } from "kysely";
import type { Db } from "@/lib/store/store";

/** Stands among the parameters for a value that comes with each read. */
class Slot {
  constructor(readonly name: string) {}
}

/**
 * A read that is built and compiled once for each database, because for a read of one row that takes longer than the
 * row itself. Answers the first row, if there is one.
 *
 * @param build - makes the query; `slot` stands for the value of that name
 */
export function prepareRead<Values extends Record<string, string | number>, Row>(
  build: (
    db: Db,
    slot: <Name extends keyof Values & string>(name: Name) => Values[Name],
  ) => { limit: (rows: 1) => { compile: () => CompiledQuery<Row> } },
): (db: Db, values: Values) => Promise<Row | undefined> {
  const compiled = new WeakMap<Db, CompiledQuery<Row>>();
  return async (db, values) => {
    let query = compiled.get(db);
    if (!query) {
      query = build(db, (name) => new Slot(name) as never)
        .limit(1)
        .compile();
      compiled.set(db, query);
    }
    const parameters = query.parameters.map((value) => (value instanceof Slot ? values[value.name] : value));
    const { rows } = await db.executeQuery<Row>({ ...query, parameters });
    return rows[0];
  };
}
