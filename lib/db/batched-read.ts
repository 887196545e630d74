import { type AliasedRawBuilder, type CompiledQuery, sql } from "kysely";
import type { Db } from "@/lib/db/store";

/** The parameters of a read. */
type Values = Record<string, string | number>;

/** The parameters of all reads in a batch, as rows of a table, each with its position (`place`). */
type Inputs<Given extends Values> = AliasedRawBuilder<Given & { place: number }, "asked">;

type Build<Given extends Values, Row> = (
  db: Db,
  inputs: Inputs<Given>,
) => { limit: (rows: number) => { compile: () => CompiledQuery<Row & { place: number }> } };

/**
 * Defines a read of at most one row, for use on frequent requests. All reads in the same turn of the event loop become
 * one query, because a query's overhead is several times the cost of its row. Every caller gets data that was read
 * after its call.
 *
 * If the query fails, it fails for the whole batch, so pass only values that a client cannot make up. The query is
 * built and compiled once per database and batch size.
 *
 * @param build - builds the query from the parameters; it selects `place` and the columns of the row
 */
export function batchedRead<Given extends Values, Row>(
  build: Build<Given, Row>,
): (db: Db, values: Given) => Promise<Row | undefined> {
  const queues = new WeakMap<Db, BatchQueue<Given, Row>>();
  return (db, values) => {
    let reads = queues.get(db);
    if (!reads) {
      reads = new BatchQueue(db, build);
      queues.set(db, reads);
    }
    return reads.read(values);
  };
}

/** A placeholder in a compiled query for one parameter of the read at this position. */
class Slot {
  constructor(
    readonly place: number,
    readonly name: string,
  ) {}
}

const maxBatchSize = 32;

type Waiting<Given, Row> = {
  values: Given;
  resolve: (row: Row | undefined) => void;
  reject: (failure: unknown) => void;
};

class BatchQueue<Given extends Values, Row> {
  private readonly waiting: Waiting<Given, Row>[] = [];
  private readonly compiled = new Map<number, CompiledQuery<Row & { place: number }>>();

  constructor(
    private readonly db: Db,
    private readonly build: Build<Given, Row>,
  ) {}

  read(values: Given): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ values, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => this.flush());
    });
  }

  private flush(): void {
    while (this.waiting.length > 0) this.execute(this.waiting.splice(0, maxBatchSize));
  }

  private async execute(together: readonly Waiting<Given, Row>[]): Promise<void> {
    try {
      const query = this.compile(together);
      const parameters = query.parameters.map((value) =>
        value instanceof Slot ? together[value.place]?.values[value.name] : value,
      );
      const { rows } = await this.db.executeQuery<Row & { place: number }>({ ...query, parameters });
      for (const row of rows) together[row.place]?.resolve(row);
      // All other reads found no row; resolving a promise a second time has no effect.
      for (const { resolve } of together) resolve(undefined);
    } catch (failure) {
      for (const { reject } of together) reject(failure);
    }
  }

  private compile(together: readonly Waiting<Given, Row>[]): CompiledQuery<Row & { place: number }> {
    const known = this.compiled.get(together.length);
    if (known) return known;
    const inputs = toTable<Given>(together.length, together[0]?.values ?? {});
    const query = this.build(this.db, inputs).limit(together.length).compile();
    this.compiled.set(together.length, query);
    return query;
  }
}

/**
 * Builds a table of placeholders for a batch of reads. Both engines name the columns of a values list `column1`,
 * `column2` and so on.
 *
 * @param example - an example of the parameters, for their names and types
 */
function toTable<Given extends Values>(reads: number, example: Values): Inputs<Given> {
  const names = ["place", ...Object.keys(example)];
  const columns = names.map((name, at) => sql`${sql.ref(`column${at + 1}`)} as ${sql.ref(name)}`);
  // PostgreSQL treats an untyped parameter as text.
  const toNumber = (value: unknown) => sql`cast(${value} as bigint)`;
  const rows = Array.from({ length: reads }, (_, place) => {
    const slots = Object.entries(example).map(([name, value]) => {
      const slot = new Slot(place, name);
      return typeof value === "number" ? toNumber(slot) : sql`${slot}`;
    });
    return sql`(${sql.join([toNumber(place), ...slots])})`;
  });
  const list = sql`(values ${sql.join(rows)}) as list`;
  return sql<Given & { place: number }>`(select ${sql.join(columns)} from ${list})`.as("asked");
}
