import { sql } from "kysely";
import { hourMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { takeDueRows } from "@/lib/mail/due-rows";
import { findLinkKey } from "@/lib/mail/link-keys";
import { trySending } from "@/lib/mail/mail";
import { type EmailState, isLeased } from "@/lib/mail/onboarding-outbox";
import { type OnboardingKind, onboardingKinds } from "@/lib/mail/onboarding-series";
import type { Claimed, Outbox } from "@/lib/mail/outbox-runner";
import { hashEmail, isSuppressed } from "@/lib/mail/suppressions";
import { renderOnboarding } from "@/lib/mail/texts/onboarding";

const giveUpAfterMs = 23 * hourMs; // because Resend forgets an idempotency key after 24

type ClaimedEmail = Claimed & { account_id: string; recipient_hash: string; failure: string | null };

/** The mails of the onboarding series. */
export const onboardingOutbox: Outbox<ClaimedEmail> = {
  maxConcurrent: Number.POSITIVE_INFINITY, // as many as the sender allows
  minIntervalMs: 5, // at most 200 mails a second, which leaves most of the process to the API

  /** 1, 3, 9, 27, 81 minutes, then four hours. */
  retryAfterMs: (attempts) => Math.min(60_000 * 3 ** (attempts - 1), 4 * hourMs),

  /** Mails of runners that died come first. */
  async claim(db, { limit, leaseUntilMs, nowMs, isSettling }) {
    // Literals, so that both engines use the partial indexes.
    const mails = db.selectFrom("onboarding_emails").select("id").where(isKnown);
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
   * The recipient is looked up only after the lease is written, and the current address is written before it is looked up
   * among the suppressed ones: a suppression that is missed then was written by someone who saw the lease and waits for it.
   */
  async address(db, mail, nowMs) {
    const { id, account_id } = mail;
    const settle = async (state: EmailState, failure = mail.failure) => {
      await updateLeased(db, mail).set({ state, failure, lease_until_ms: null }).execute();
      return undefined;
    };
    const account = await accountBy(db, "id", account_id)
      .select(["email", "plan", "trial_ends_at_ms"])
      .executeTakeFirst();
    if (!account) return settle("stopped");
    const { email: to, plan, trial_ends_at_ms } = account;
    const recipient_hash = hashEmail(to);
    if (recipient_hash !== mail.recipient_hash)
      await updateLeased(db, mail).set({ recipient_hash }).execute();
    const hasEnded = plan === "trial" && trial_ends_at_ms !== null && trial_ends_at_ms <= nowMs;
    if (hasEnded || (await isSuppressed(db, recipient_hash))) return settle("stopped");
    if (mail.triedUntilMs <= nowMs) return settle("failed", mail.failure ?? "delivery unknown");
    const linkKey = await findLinkKey(db);
    return {
      to,
      send: (mailSender) =>
        trySending(mailSender, () => {
          return { id, to, ...renderOnboarding(mail.kind as OnboardingKind, account_id, linkKey) };
        }),
    };
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

/**
 * A newer version may have written kinds unknown to this one. `case` hides them from PostgreSQL's planner, which would
 * take each one for rare and sort all due rows instead of reading the index in order.
 */
const isKnown = sql<boolean>`case when kind in (${sql.join(onboardingKinds)}) then 1 else 0 end > 0`;

/** Updates a mail only while this lease is its own: a later claim writes another expiry. */
function updateLeased(db: Db, { id, leaseUntilMs }: Claimed) {
  return db
    .updateTable("onboarding_emails")
    .where("id", "=", id)
    .where("state", "=", "sending" satisfies EmailState)
    .where("lease_until_ms", "=", leaseUntilMs);
}
