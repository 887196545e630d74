import { sql } from "kysely";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";

/**
 * Checks that the store can be read and written: reads all of a SQLite file, then inserts and deletes a row in one
 * transaction. Throws the first error.
 */
export async function probeStore(db: Db): Promise<void> {
  if (!settings().databaseUrl) {
    const { rows } = await sql<{ quick_check: string }>`PRAGMA quick_check(1)`.execute(db);
    const [result] = rows;
    if (result?.quick_check !== "ok") throw new Error(`it is damaged: ${result?.quick_check}`);
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
