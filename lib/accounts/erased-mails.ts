import { sql } from "kysely";
import type { Db } from "@/lib/db/store";
import { eraseMailFilesTo } from "@/lib/mail/file-sender";
import { hashEmail } from "@/lib/mail/suppressions";

/** What the audit calls it that a person was erased; the entry has the hash of the address. */
export const erasure = "person erase";

/** Who was erased, by the hash of the address, and when. */
export async function findErased(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("audit_entries")
    .select(["whom", "at_ms"])
    .where("what", "=", sql.lit(erasure)) // as its index has it
    .orderBy("at_ms")
    .execute();
  return new Map(rows.map(({ whom, at_ms }) => [whom ?? "", at_ms]));
}

/**
 * Deletes the files of the mails that erased people got until then. Each instance has files of its own, where the
 * operator's command does not reach: each finds in the store who was erased.
 */
export async function eraseMailFiles(dataDir: string, erased: Map<string, number>): Promise<void> {
  if (erased.size === 0) return;
  await eraseMailFilesTo(
    dataDir,
    (email, writtenAtMs) => writtenAtMs <= (erased.get(hashEmail(email)) ?? Number.NEGATIVE_INFINITY),
  );
}
