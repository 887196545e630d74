import { sql } from "kysely";
import type { Db } from "@/lib/db/store";
import { eraseMailFilesTo } from "@/lib/mail/file-sender";
import { hashEmail } from "@/lib/mail/suppressions";

/** The audit's name for an erasure; its entry contains the hash of the address. */
export const erasure = "person erase";

/** The erased people, by the hash of the address, with the time of erasure. */
export async function findErased(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("audit_entries")
    .select(["whom", "at_ms"])
    .where("what", "=", sql.lit(erasure)) // a literal, as in the condition of its index
    .orderBy("at_ms")
    .execute();
  return new Map(rows.map(({ whom, at_ms }) => [whom ?? "", at_ms]));
}

/**
 * Deletes the mail files of erased people that were written before the erasure. Each instance has its own files, which
 * the operator's command cannot reach, so each one reads from the store who was erased.
 */
export async function eraseMailFiles(dataDir: string, erased: Map<string, number>): Promise<void> {
  if (erased.size === 0) return;
  await eraseMailFilesTo(
    dataDir,
    (email, writtenAtMs) => writtenAtMs <= (erased.get(hashEmail(email)) ?? Number.NEGATIVE_INFINITY),
  );
}
