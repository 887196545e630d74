import { sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { takeDueRows } from "@/lib/mail/due-rows";
import { type DueMail, type ScheduledMail, scheduledAtOnce } from "@/lib/mail/outbox";

/*
 * A mail three days before the end of a trial, and one at its end. The end in the account's row says when each is due, so
 * whatever moves the end or the plan moves or withdraws the mail, also in a build that does not know these mails.
 */

const missedAfterMs = 2 * dayMs; // a mail that is later than this would only confuse

type TrialMail = Extract<ScheduledMail, { kind: "trial ending" | "trial ended" }>;

/**
 * When each is due, and whether it is still to be sent: the condition of its partial index, in the same literal words. A
 * trial that was given fewer than three days gets only the second mail, and one that was given none gets neither.
 */
const trialMailKinds = [
  {
    kind: "trial ending",
    leadMs: 3 * dayMs,
    isPending: sql<boolean>`plan = 'trial' and created_at_ms <= trial_ends_at_ms - 259200000 and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms - 259200000)`,
  },
  {
    kind: "trial ended",
    leadMs: 0,
    isPending: sql<boolean>`plan = 'trial' and created_at_ms < trial_ends_at_ms and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms)`,
  },
] as const;

/** Marks the trials whose mails are due, in the transaction that queues the mails. */
export async function takeTrialMails(transaction: Db, nowMs: number): Promise<DueMail[]> {
  const mails: DueMail[] = [];
  for (const { kind, leadMs, isPending } of trialMailKinds) {
    // An account without a subject belongs to no one who could sign in.
    const due = transaction
      .selectFrom("accounts")
      .select("id")
      .where(isPending)
      .where("subject", "is not", null)
      .where("trial_ends_at_ms", "<=", nowMs + leadMs)
      .where("trial_ends_at_ms", ">", nowMs + leadMs - missedAfterMs)
      .orderBy("trial_ends_at_ms");
    const change = { trial_mail_done_ms: sql<number>`trial_ends_at_ms - ${leadMs}` };
    const rows = await takeDueRows(transaction, "accounts", { due, limit: scheduledAtOnce, change });
    for (const { id: accountId, trial_ends_at_ms } of rows ?? []) {
      const endsAtMs = trial_ends_at_ms ?? nowMs;
      const about = `${kind.replace(" ", "-")}:v1:${accountId}:${endsAtMs}`;
      mails.push({ mail: { kind, accountId, endsAtMs }, about, untilMs: endsAtMs - leadMs + missedAfterMs });
    }
  }
  return mails;
}

/** Addresses a mail to its owner; `undefined` if the trial does not end then any more. */
export async function addressTrialMail(db: Db, mail: TrialMail) {
  const owner = await accountBy(db, "id", mail.accountId)
    .select("email")
    .where("subject", "is not", null)
    .where("plan", "=", "trial")
    .where("trial_ends_at_ms", "=", mail.endsAtMs)
    .executeTakeFirst();
  return owner && { ...mail, to: owner.email };
}
