import { sql } from "kysely";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { takeDueRows } from "@/lib/mail/outbox/due-rows";
import type { EmailState } from "@/lib/mail/outbox/onboarding-outbox";

const maxRetried = 1000;

/** The mails of the onboarding series that have failed: a query. The literal is that of the partial index. */
export const failedMails = (db: Db) =>
  db.selectFrom("onboarding_emails").where(sql`state`, "=", sql`'failed'`);

/**
 * Schedules failed mails again, the one with this id or those that failed with these words, at most a thousand, except to
 * addresses that want none. Returns how many there were.
 */
export function retryFailedMails(
  db: Db,
  { column, value, by }: { column: "id" | "failure"; value: string; by: Operator },
  nowMs: number,
): Promise<number> {
  const whom = column === "id" ? value : null;
  const readState = async (_: Db, retried: unknown = 0) => ({ retried });
  return auditedTransaction(db, { by, what: "mails retry", whom, readState }, nowMs, async (transaction) => {
    const due = failedMails(transaction)
      .select("id")
      .where(column, "=", value)
      .where("account_id", "in", (query) => query.selectFrom("accounts").select("id"))
      .where("recipient_hash", "not in", (query) =>
        query.selectFrom("email_suppressions").select("email_hash"),
      );
    const change = {
      state: "scheduled" satisfies EmailState,
      next_attempt_at_ms: nowMs,
      attempts: 0,
      first_attempt_at_ms: null,
      lease_until_ms: null,
    };
    const rows = await takeDueRows(transaction, "onboarding_emails", { due, limit: maxRetried, change });
    return rows?.length ?? 0;
  });
}
