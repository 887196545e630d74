import { type AliasedRawBuilder, type CompiledQuery, sql } from "kysely";
import type { Db } from "@/lib/db/store";

/** What a read is asked with. */
type Values = Record<string, string | number>;

/** The values of every read that is asked for, as rows of a table, and the place of each among them. */
type Inputs<Given extends Values> = AliasedRawBuilder<Given & { place: number }, "asked">;

type Build<Given extends Values, Row> = (
  db: Db,
  inputs: Inputs<Given>,
) => { limit: (rows: number) => { compile: () => CompiledQuery<Row & { place: number }> } };

/**
 * A read of one row at most, on the path of many requests. Those that are asked for in the same turn of the event loop go
 * out as one query, because what a query costs on its way is several times the cost of its row: whoever asks gets what
 * was read after that. Where it fails, it fails for all of them, so values are ours, and never what a client
 * made up. The query is built and compiled once for each database and number of reads.
 *
 * @param build - makes the query: of what is asked, the `place` and the columns of the row
 */
export function batchedRead<Given extends Values, Row>(
  build: Build<Given, Row>,
): (db: Db, values: Given) => Promise<Row | undefined> {
  const ofDatabases = new WeakMap<Db, GatheredReads<Given, Row>>();
  return (db, values) => {
    let reads = ofDatabases.get(db);
    if (!reads) {
      reads = new GatheredReads(db, build);
      ofDatabases.set(db, reads);
    }
    return reads.read(values);
  };
}

/** Stands among the parameters of a compiled query for a value of the read at this place. */
class Slot {
  constructor(
    readonly place: number,
    readonly name: string,
  ) {}
}

const maxTogether = 32;

type Waiting<Given, Row> = {
  values: Given;
  resolve: (row: Row | undefined) => void;
  reject: (failure: unknown) => void;
};

class GatheredReads<Given extends Values, Row> {
  private readonly waiting: Waiting<Given, Row>[] = [];
  private readonly compiled = new Map<number, CompiledQuery<Row & { place: number }>>();

  constructor(
    private readonly db: Db,
    private readonly build: Build<Given, Row>,
  ) {}

  read(values: Given): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ values, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => this.begin());
    });
  }

  private begin(): void {
    while (this.waiting.length > 0) this.ask(this.waiting.splice(0, maxTogether));
  }

  private async ask(together: readonly Waiting<Given, Row>[]): Promise<void> {
    try {
      const query = this.compile(together);
      const parameters = query.parameters.map((value) =>
        value instanceof Slot ? together[value.place]?.values[value.name] : value,
      );
      const { rows } = await this.db.executeQuery<Row & { place: number }>({ ...query, parameters });
      for (const row of rows) together[row.place]?.resolve(row);
      // For all others there is none: who has an answer takes no second one.
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
 * A table of slots for the values of this many reads; both engines call the columns of a list `column1`, `column2`
 * and so on.
 *
 * @param like - has the names of the values, and their types
 */
function toTable<Given extends Values>(reads: number, like: Values): Inputs<Given> {
  const names = ["place", ...Object.keys(like)];
  const columns = names.map((name, at) => sql`${sql.ref(`column${at + 1}`)} as ${sql.ref(name)}`);
  // PostgreSQL takes a parameter for a text where nothing says otherwise.
  const toNumber = (value: unknown) => sql`cast(${value} as bigint)`;
  const rows = Array.from({ length: reads }, (_, place) => {
    const slots = Object.entries(like).map(([name, value]) => {
      const slot = new Slot(place, name);
      return typeof value === "number" ? toNumber(slot) : sql`${slot}`;
    });
    return sql`(${sql.join([toNumber(place), ...slots])})`;
  });
  const list = sql`(values ${sql.join(rows)}) as list`;
  return sql<Given & { place: number }>`(select ${sql.join(columns)} from ${list})`.as("asked");
}
