import type { Kysely } from "kysely";
import { findErased } from "@/lib/accounts/erasure";
import { dayMs } from "@/lib/config/durations";
import { sessionDays } from "@/lib/config/session-lifetimes";
import { settings } from "@/lib/config/settings";
import { auditedTransaction } from "@/lib/db/audit";
import { type Db, processStore } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { eraseMailFilesTo, eraseOldMailFiles } from "@/lib/mail/file-sender";

const batchSize = 500; // so that other writers do not wait long for the lock

type OldRows = [
  table: keyof Tables,
  key: string,
  column: string,
  untilMs: number,
  only?: { column: string; is: string[] },
];

/**
 * Deletes data older than `RETENTION_DAYS`: the waitlist, invitations, settled onboarding mails and their files, audit
 * entries, the outcomes of sign-in mails, and the ended sessions that Clerk reported. Also deletes expired sessions,
 * those of apps 30 days later, emails on the waitlist that were not confirmed, and mail files of erased people on this
 * instance. Accounts and their ledgers stay. One audit entry counts the deleted rows
 * of each table.
 */
export async function deleteExpired(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  const beforeMs = nowMs - settings().retentionDays * dayMs;
  const tables: OldRows[] = [
    ["waitlist", "email", "joined_at_ms", beforeMs],
    ["waitlist", "email", "unconfirmed_until_ms", nowMs],
    ["invitations", "id", "created_at_ms", beforeMs],
    ["audit_entries", "id", "at_ms", beforeMs],
    ["local_sessions", "id", "expires_at_ms", nowMs, { column: "kind", is: ["browser", "program"] }],
    ["local_sessions", "id", "expires_at_ms", nowMs - sessionDays.ended * dayMs],
    ["sign_in_mail_attempts", "id", "at_ms", beforeMs],
    ["clerk_sessions_ended", "id", "ended_at_ms", beforeMs],
    [
      "onboarding_emails",
      "id",
      "due_at_ms",
      beforeMs,
      { column: "state", is: ["sent", "stopped", "failed"] },
    ],
  ];
  for (let isMore = true; isMore && !signal?.aborted; ) {
    const readState = async (_: Db, deleted: unknown = {}) => deleted;
    const about = { by: "service", what: "retention", whom: null, readState } as const;
    const deleted = await auditedTransaction(db, about, nowMs, async (transaction) => {
      const deleted: Record<string, number> = {};
      for (const old of tables) {
        const count = await deleteOld(transaction, old);
        if (count > 0) deleted[old[0]] = (deleted[old[0]] ?? 0) + count;
      }
      return deleted;
    });
    isMore = Object.values(deleted).some((count) => count >= batchSize);
  }
  await eraseOldMailFiles(settings().dataDir, beforeMs);
  await eraseMailFilesTo(settings().dataDir, await findErased(db));
  await processStore().purgeDeleted();
}

async function deleteOld(transaction: Db, [table, key, column, untilMs, only]: OldRows): Promise<number> {
  const db = transaction as unknown as Kysely<Record<string, Record<string, unknown>>>;
  let old = db.selectFrom(table).select(key).where(column, "<=", untilMs).limit(batchSize);
  if (only) old = old.where(only.column, "in", only.is);
  return (await db.deleteFrom(table).where(key, "in", old).returning(key).execute()).length;
}
