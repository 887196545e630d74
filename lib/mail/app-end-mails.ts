import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { deriveMailId } from "@/lib/mail/mail";
import { enqueueMail, type ScheduledMail } from "@/lib/mail/outbox";

/*
 * A mail a day before an app loses its access. The row of the session says when it is due, so anything that ends the
 * session or moves its end takes the mail with it.
 */

const usedWithinMs = 3 * dayMs;

type AppEndMail = Extract<ScheduledMail, { kind: "app ending" }>;

/** Queues up to `limit` mails that are due, each in the transaction that notes it. Returns how many. */
export async function enqueueAppEndMails(db: Db, nowMs: number, limit: number): Promise<number> {
  // The build before leases the row while it sends: the mail is then due when the lease expires.
  const due = db.selectFrom("local_sessions").select("id").where("end_mail_at_ms", "<=", nowMs);
  // Checked without a lock first, because usually nothing is due.
  if (!(await due.limit(1).executeTakeFirst())) return 0;
  return transact(db, async (transaction) => {
    const sessions = await transaction
      .with("next", () => due.orderBy("end_mail_at_ms").limit(limit).forUpdate().skipLocked())
      .updateTable("local_sessions")
      .set({ end_mail_at_ms: null })
      .where("id", "in", (query) => query.selectFrom("next").select("id"))
      .returning(["id", "expires_at_ms"])
      .execute();
    for (const { id: sessionId, expires_at_ms: endsAtMs } of sessions) {
      const id = deriveMailId(`app-end:v1:${sessionId}:${endsAtMs}`);
      await enqueueMail(
        transaction,
        { kind: "app ending", sessionId, endsAtMs },
        { id, nowMs, untilMs: endsAtMs },
      );
    }
    return sessions.length;
  });
}

/** Addresses a mail to its owner, with the app's name; `undefined` if it is not wanted (any more). */
export async function addressAppEndMail(db: Db, mail: AppEndMail, nowMs: number) {
  const app = await db
    .selectFrom("local_sessions as session")
    .innerJoin("accounts", "accounts.id", "session.account_id")
    .select(["email as to", "name", "app_origin as origin"])
    .where("session.id", "=", mail.sessionId)
    .where("expires_at_ms", "=", mail.endsAtMs)
    .where("last_seen_at_ms", ">", nowMs - usedWithinMs)
    .where("app_end_mails_stopped_at_ms", "is", null)
    .executeTakeFirst();
  return app && { ...mail, ...app, name: app.name ?? "An app" };
}
