import { sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import { type DueMail, type ScheduledMail, scheduledAtOnce } from "@/lib/mail/outbox";

/*
 * A mail 7 days before the last date of apps, used or not. The rows of their sessions say when it is due, so anything that
 * ends a session or moves its last date takes the mail with it. Apps that come due within a day share a mail.
 */

export const appEndLeadMs = 7 * dayMs;

const lastDate = sql<number>`last_date_ms`; // which every app has

type AppEndMail = Extract<ScheduledMail, { kind: "app ending" }>;

/** Marks the apps that are due, and those of the same owners that are soon, in the transaction that queues the mails. */
export async function takeAppEndMails(transaction: Db, nowMs: number): Promise<DueMail[]> {
  const owners = await transaction
    .selectFrom("local_sessions")
    .select("account_id")
    .distinct()
    .where("end_mail_at_ms", "<=", nowMs)
    .where("expires_at_ms", ">", nowMs)
    .orderBy("account_id")
    .limit(scheduledAtOnce)
    .execute();
  const mails: DueMail[] = [];
  for (const { account_id: accountId } of owners) {
    const apps = await transaction
      .updateTable("local_sessions")
      .set({ end_mail_at_ms: null })
      .where("account_id", "=", accountId)
      .where("end_mail_at_ms", "<=", nowMs + dayMs)
      .where("expires_at_ms", ">", nowMs)
      .returning(lastDate.as("endsAtMs"))
      .execute();
    if (apps.length === 0) continue; // another process was first
    const dates = apps.map(({ endsAtMs }) => endsAtMs);
    const [firstMs, lastMs] = [Math.min(...dates), Math.max(...dates)];
    const mail = { kind: "app ending", accountId, firstMs, lastMs } as const;
    mails.push({ mail, about: `app-end:v2:${accountId}:${firstMs}`, untilMs: lastMs });
  }
  return mails;
}

/** Addresses a mail to its owner, with the apps that still have one of its dates; `undefined` if there is none. */
export async function addressAppEndMail(db: Db, mail: AppEndMail, nowMs: number) {
  const sessions = await db
    .selectFrom("local_sessions")
    .innerJoin("accounts", "accounts.id", "account_id")
    .select(["email", "name", "app_origin", lastDate.as("endsAtMs")])
    .where("account_id", "=", mail.accountId)
    .where("kind", "=", "app")
    .where("expires_at_ms", ">", nowMs)
    .where("app_end_mails_stopped_at_ms", "is", null)
    .where(lastDate, ">=", mail.firstMs)
    .where(lastDate, "<=", mail.lastMs)
    .orderBy(lastDate)
    .execute();
  const [owner] = sessions;
  const apps = sessions.map(({ name, app_origin: origin, endsAtMs }) => ({
    ...{ name: name ?? "An app", origin, endsAtMs },
  }));
  return owner && { ...mail, to: owner.email, apps };
}
