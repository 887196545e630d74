import { sql } from "kysely";
import { emailChangeMs } from "@/lib/accounts/email-change";
import { approvedKind } from "@/lib/auth/sessions/session";
import { dayMs } from "@/lib/config/durations";
import { answerDays, sessionDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { auditedTransaction } from "@/lib/db/audit";
import { findErased } from "@/lib/db/erasures";
import { deleteOld, type OldRows } from "@/lib/db/old-rows";
import { type Db, processStore } from "@/lib/db/store";
import { eraseMailFiles } from "@/lib/mail/senders/file-sender";

const batchSize = 500; // so that other writers do not wait long for the lock

/**
 * Deletes what is older than `RETENTION_DAYS` or has expired, and the mail files of erased people on this instance. Accounts and
 * their ledgers stay. One audit entry counts the deleted rows of each table.
 */
export async function deleteExpired(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  const beforeMs = nowMs - settings().retentionDays * dayMs;
  const key = ["id"];
  const sessions = { table: "local_sessions", key, column: "expires_at_ms" } as const;
  const isOfNoApp = sql<boolean>`kind in ('browser', 'program', ${approvedKind})`;
  const isSettled = sql<boolean>`state in ('sent', 'stopped', 'failed')`;
  const tables: OldRows[] = [
    { table: "waitlist", key: ["email"], column: "joined_at_ms", untilMs: beforeMs },
    { table: "waitlist", key: ["email"], column: "unconfirmed_until_ms", untilMs: nowMs },
    { table: "invitations", key, column: "created_at_ms", untilMs: beforeMs },
    { table: "audit_entries", key, column: "at_ms", untilMs: beforeMs },
    { ...sessions, untilMs: nowMs, only: isOfNoApp },
    { ...sessions, untilMs: nowMs - sessionDays.ended * dayMs },
    { table: "operator_sessions", key: ["id_hash"], column: "expires_at_ms", untilMs: nowMs },
    { table: "sign_in_mail_attempts", key, column: "at_ms", untilMs: beforeMs },
    {
      table: "app_answers",
      key: ["session_id", "at_ms"],
      column: "at_ms",
      untilMs: nowMs - answerDays * dayMs,
    },
    { table: "email_changes", key, column: "changed_at_ms", untilMs: beforeMs },
    {
      table: "email_changes",
      key,
      column: "asked_at_ms",
      untilMs: nowMs - emailChangeMs,
      only: sql<boolean>`changed_at_ms is null and until_ms <= ${nowMs}`,
    },
    { table: "clerk_sessions_ended", key, column: "ended_at_ms", untilMs: beforeMs },
    { table: "onboarding_emails", key, column: "due_at_ms", untilMs: beforeMs, only: isSettled },
  ];
  for (let isMore = true; isMore && !signal?.aborted; ) {
    const readState = async (_: Db, deleted: unknown = {}) => deleted;
    const about = { by: "service", what: "retention", whom: null, readState } as const;
    const deleted = await auditedTransaction(db, about, nowMs, async (transaction) => {
      const deleted: Record<string, number> = {};
      for (const old of tables) {
        const count = await deleteOld(transaction, old, batchSize);
        if (count > 0) deleted[old.table] = (deleted[old.table] ?? 0) + count;
      }
      return deleted;
    });
    isMore = Object.values(deleted).some((count) => count >= batchSize);
  }
  await eraseMailFiles(settings().dataDir, await findErased(db), beforeMs);
  await processStore().purgeDeleted();
}
