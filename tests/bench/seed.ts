import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Environment } from "@/tests/support/service";

/** Changes the store of a service by these statements, and brings its statistics up to date. */
export async function seed(
  { DATABASE_URL, DATA_DIR = "" }: Environment,
  statements: string[],
): Promise<void> {
  if (DATABASE_URL) {
    const client = new pg.Client(DATABASE_URL);
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.query("VACUUM ANALYZE");
    await client.end();
    return;
  }
  const db = new DatabaseSync(join(DATA_DIR, "store.sqlite"));
  for (const statement of statements) db.exec(statement);
  db.exec("ANALYZE");
  db.close();
}
