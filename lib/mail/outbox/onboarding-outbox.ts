import { randomUUID } from "node:crypto";
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import { dayMs, hourMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { kindNames, mailKinds } from "@/lib/mail/kinds";
import type { OnboardingKind } from "@/lib/mail/kinds/onboarding";
import { isOfKind, takeDueRows } from "@/lib/mail/outbox/due-rows";
import type { Claimed, Outbox } from "@/lib/mail/outbox/outbox-runner";
import { hashEmail, isSuppressed } from "@/lib/mail/outbox/suppressions";
import { noPrice } from "@/lib/mail/prices";

/**
 * The state of an onboarding mail:
 *
 *     scheduled → sending → sent
 *         ↑          ├────→ failed      refused permanently, or retried for too long
 *         └──────────┘ retry
 *     scheduled, or sending with an expired lease → stopped
 *
 * A runner claims a mail with a lease: until it expires, that runner may still deliver the mail. A known outcome ends
 * the lease early.
 */
export type EmailState = "scheduled" | "sending" | "sent" | "stopped" | "failed";

const maxLeaseMs = 75_000; // 75 seconds: more than any lease and any clock skew between instances

/** Schedules an account's onboarding mails in the caller's transaction, as stopped if the address is suppressed. */
export async function scheduleOnboarding(
  transaction: Db,
  recipient: { accountId: string; email: string },
  nowMs: number,
): Promise<void> {
  const recipientHash = hashEmail(recipient.email);
  const state: EmailState = (await isSuppressed(transaction, recipientHash)) ? "stopped" : "scheduled";
  const rows = [...mailKinds].flatMap(([kind, { afterDays }]) => {
    if (afterDays === undefined) return [];
    const dueAtMs = nowMs + afterDays * dayMs;
    return {
      id: randomUUID(),
      account_id: recipient.accountId,
      recipient_hash: recipientHash,
      kind,
      due_at_ms: dueAtMs,
      state,
      next_attempt_at_ms: dueAtMs,
    };
  });
  await transaction.insertInto("onboarding_emails").values(rows).execute();
}

/** Whether a lease is active. One that expires too far in the future was written before a clock was set back. */
export function isLeased(nowMs: number): Condition {
  return ({ and, eb }) =>
    and([eb("lease_until_ms", ">", nowMs), eb("lease_until_ms", "<=", nowMs + maxLeaseMs)]);
}

export type Condition = (builder: ExpressionBuilder<Tables, "onboarding_emails">) => Expression<SqlBool>;

const giveUpAfterMs = 23 * hourMs; // because Resend forgets an idempotency key after 24

type ClaimedEmail = Claimed & {
  account_id: string;
  recipient_hash: string;
  failure: string | null;
  due_at_ms: number;
};

/** The mails of the onboarding series. */
export const onboardingOutbox: Outbox<ClaimedEmail> = {
  maxConcurrent: Number.POSITIVE_INFINITY, // as many as the sender allows
  minIntervalMs: 5, // at most 200 mails a second, which leaves most of the process to the API
  retryAfterMs: (attempts) => Math.min(60_000 * 3 ** (attempts - 1), 4 * hourMs), // 1, 3, 9, 27, 81 minutes, then 4 hours

  /** Mails of runners that died come first. */
  async claim(db, { limit, leaseUntilMs, nowMs, isSettling }) {
    // Literals, so that both engines use the partial indexes.
    const mails = db.selectFrom("onboarding_emails").select("id").where(isOfKind(kindNames.onboarding));
    const abandoned = mails.where(sql<boolean>`state = 'sending'`).where(({ not }) => not(isLeased(nowMs)));
    const scheduled = mails
      .where(sql<boolean>`state = 'scheduled'`)
      .where("next_attempt_at_ms", "<=", nowMs)
      .orderBy("next_attempt_at_ms");
    const change = {
      state: "sending" satisfies EmailState,
      next_attempt_at_ms: leaseUntilMs,
      lease_until_ms: leaseUntilMs,
      attempts: sql<number>`attempts + 1`,
      first_attempt_at_ms: sql<number>`coalesce(first_attempt_at_ms, ${nowMs})`,
    };
    for (const due of isSettling ? [scheduled] : [abandoned, scheduled]) {
      const rows = await takeDueRows(db, "onboarding_emails", { due, limit, change });
      const claimed = rows?.map(({ first_attempt_at_ms, ...row }) => {
        return { ...row, leaseUntilMs, triedUntilMs: (first_attempt_at_ms ?? nowMs) + giveUpAfterMs };
      });
      if (claimed) return claimed;
    }
    return undefined;
  },

  /**
   * No one gets two in a day, also where the runner was away for long or a mail about the end of a trial has just come: the
   * later one waits. The recipient is looked up only after the lease is written, and the current address is written before
   * it is looked up among the suppressed ones: a suppression that is missed then was written by someone who saw the lease
   * and waits for it.
   */
  async address(db, mail, nowMs) {
    const settle = async (state: EmailState, failure = mail.failure) => {
      await updateLeased(db, mail).set({ state, failure, lease_until_ms: null }).execute();
      return undefined;
    };
    const firstTriedAtMs = mail.triedUntilMs - giveUpAfterMs;
    const queued = { kind: mail.kind as OnboardingKind, accountId: mail.account_id, firstTriedAtMs };
    const wanted = await mailKinds.get(mail.kind)?.address(db, queued, nowMs, noPrice);
    if (!wanted) return settle("stopped");
    const recipient_hash = hashEmail(wanted.to);
    if (recipient_hash !== mail.recipient_hash)
      await updateLeased(db, mail).set({ recipient_hash }).execute();
    if (await isSuppressed(db, recipient_hash)) return settle("stopped");
    if (mail.triedUntilMs <= nowMs) return settle("failed", mail.failure ?? "delivery unknown");
    const mailedAtMs = mail.attempts === 1 ? await lastMailed(db, mail, wanted.to, nowMs) : undefined;
    if (mailedAtMs === undefined) return wanted;
    const again = { next_attempt_at_ms: mailedAtMs + apartMs, first_attempt_at_ms: null, attempts: 0 };
    await updateLeased(db, mail)
      .set({ ...again, state: "scheduled" satisfies EmailState, lease_until_ms: null })
      .execute();
    return undefined;
  },

  async record(db, mail, { failure, next }) {
    await updateLeased(db, mail)
      .set({
        state: (next ? "scheduled" : failure ? "failed" : "sent") satisfies EmailState,
        failure: failure?.message ?? null,
        // While the delivery is unknown, the lease stays until it expires.
        lease_until_ms: failure?.mayArrive ? mail.leaseUntilMs : null,
        ...(next && { next_attempt_at_ms: next.atMs, attempts: next.attempts }),
      })
      .execute();
  },
};

const apartMs = 20 * hourMs; // so that mails due at one hour of two days both keep it

/** When the account was last mailed, less than {@link apartMs} ago: an earlier mail of the series, or about its trial. */
async function lastMailed(
  db: Db,
  { account_id, due_at_ms }: ClaimedEmail,
  to: string,
  nowMs: number,
): Promise<number | undefined> {
  const others = await db
    .selectFrom("onboarding_emails")
    .select("first_attempt_at_ms as at")
    .where("account_id", "=", account_id)
    .where("state", "in", ["sending", "sent"] satisfies EmailState[])
    .where("due_at_ms", "<", due_at_ms)
    .where("first_attempt_at_ms", ">", nowMs - apartMs)
    .execute();
  const ends = await db
    .selectFrom("sign_in_mail_attempts")
    .select("at_ms as at")
    .where("email", "=", to)
    .where("kind", "in", ["trial ending", "trial ended"])
    .where("state", "=", "sent")
    .where("at_ms", ">", nowMs - apartMs)
    .execute();
  const times = [...others, ...ends].flatMap(({ at }) => at ?? []);
  return times.length > 0 ? Math.max(...times) : undefined;
}

/** Updates a mail only while this lease is its own: a later claim writes another expiry. */
function updateLeased(db: Db, { id, leaseUntilMs }: Claimed) {
  return db
    .updateTable("onboarding_emails")
    .where("id", "=", id)
    .where("state", "=", "sending" satisfies EmailState)
    .where("lease_until_ms", "=", leaseUntilMs);
}

/** The query of an account's onboarding mails in due order, with their last failure, if any. */
export function selectEmails(db: Db, accountId: string | Expression<string>) {
  return db
    .selectFrom("onboarding_emails")
    .select(["id", "kind", "due_at_ms as at_ms", "state", "failure"])
    .where("account_id", "=", accountId)
    .orderBy("due_at_ms");
}
