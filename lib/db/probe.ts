import { sql } from "kysely";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";

/**
 * Reads the whole store where that is ours to do (a SQLite file), and writes to it: a row that is there for no
 * moment, since it goes in the transaction that brings it. Throws the first fault.
 */
export async function probeStore(db: Db): Promise<void> {
  if (!settings().databaseUrl) {
    const { rows } = await sql<{ quick_check: string }>`PRAGMA quick_check(1)`.execute(db);
    const [said] = rows;
    if (said?.quick_check !== "ok") throw new Error(`it is damaged: ${said?.quick_check}`);
  }
  await db
    .withoutPlugins()
    .transaction()
    .execute(async (transaction) => {
      const probe = { email_hash: "check", created_at_ms: 0 };
      await transaction.insertInto("email_suppressions").values(probe).execute();
      await transaction.deleteFrom("email_suppressions").where("email_hash", "=", probe.email_hash).execute();
    });
}
