import { type RawBuilder, sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { deriveMailId } from "@/lib/mail/mail";
import { enqueueMail, type ScheduledMail } from "@/lib/mail/outbox";

/*
 * A mail three days before the end of a trial, and one at its end. The end in the account's row says when each is due, so
 * whatever moves the end or the plan moves or withdraws the mail, also in a build that does not know these mails.
 */

const missedAfterMs = 2 * dayMs; // a mail that is later than this would only confuse

type TrialMail = Extract<ScheduledMail, { kind: "trial ending" | "trial ended" }>;

type TrialMailKind = {
  kind: TrialMail["kind"];
  /** How long before the end of the trial it is due. */
  leadMs: number;
  /** Whether it is still to be sent: the condition of its partial index, in the same literal words. */
  isPending: RawBuilder<boolean>;
};

/** A trial that was given fewer than three days gets only the second mail, and one that was given none gets neither. */
const trialMailKinds: TrialMailKind[] = [
  {
    kind: "trial ending",
    leadMs: 3 * dayMs,
    isPending: sql`plan = 'trial' and created_at_ms <= trial_ends_at_ms - 259200000 and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms - 259200000)`,
  },
  {
    kind: "trial ended",
    leadMs: 0,
    isPending: sql`plan = 'trial' and created_at_ms < trial_ends_at_ms and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms)`,
  },
];

/** Queues up to `limit` mails of each kind that are due, each in the transaction that notes it. Returns how many. */
export async function enqueueTrialMails(db: Db, nowMs: number, limit: number): Promise<number> {
  let enqueued = 0;
  for (const trialMail of trialMailKinds) {
    // Checked without a lock first, because usually nothing is due.
    if (!(await due(db, trialMail, nowMs).limit(1).executeTakeFirst())) continue;
    enqueued += await transact(db, (transaction) => enqueue(transaction, trialMail, nowMs, limit));
  }
  return enqueued;
}

async function enqueue(transaction: Db, trialMail: TrialMailKind, nowMs: number, limit: number) {
  const { kind, leadMs } = trialMail;
  const rows = await transaction
    .with("next", () =>
      due(transaction, trialMail, nowMs).orderBy("trial_ends_at_ms").limit(limit).forUpdate().skipLocked(),
    )
    .updateTable("accounts")
    .set(({ eb }) => ({ trial_mail_done_ms: eb("trial_ends_at_ms", "-", leadMs) }))
    .where("id", "in", (query) => query.selectFrom("next").select("id"))
    .returning(["id", "trial_ends_at_ms"])
    .execute();
  for (const { id: accountId, trial_ends_at_ms } of rows) {
    const endsAtMs = trial_ends_at_ms ?? nowMs;
    const id = deriveMailId(`${kind.replace(" ", "-")}:v1:${accountId}:${endsAtMs}`);
    const untilMs = endsAtMs - leadMs + missedAfterMs;
    await enqueueMail(transaction, { kind, accountId, endsAtMs }, { id, nowMs, untilMs });
  }
  return rows.length;
}

/** The accounts whose mail of this kind is due. One without a subject belongs to no one who could sign in. */
function due(db: Db, { leadMs, isPending }: TrialMailKind, nowMs: number) {
  return db
    .selectFrom("accounts")
    .select("id")
    .where(isPending)
    .where("subject", "is not", null)
    .where("trial_ends_at_ms", "<=", nowMs + leadMs)
    .where("trial_ends_at_ms", ">", nowMs + leadMs - missedAfterMs);
}

/** Addresses a mail to its owner; `undefined` if the trial does not end then any more. */
export async function addressTrialMail(db: Db, mail: TrialMail) {
  const owner = await accountBy(db, "id", mail.accountId)
    .select("email as to")
    .where("subject", "is not", null)
    .where("plan", "=", "trial")
    .where("trial_ends_at_ms", "=", mail.endsAtMs)
    .executeTakeFirst();
  return owner && { ...mail, ...owner };
}
