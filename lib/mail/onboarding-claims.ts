import { sql, type Updateable } from "kysely";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import type { NextAttempt, SendError } from "@/lib/mail/mail";
import { type EmailState, isLeased } from "@/lib/mail/onboarding-outbox";
import { type OnboardingKind, onboardingKinds } from "@/lib/mail/onboarding-series";
import type { ClaimOptions } from "@/lib/mail/queue";
import { hashEmail } from "@/lib/mail/suppressions";

/** A mail that only this runner may send, until its lease expires. */
export type ClaimedEmail = Awaited<ReturnType<typeof resolveRecipients>>[number];

const giveUpAfterMs = 23 * 60 * 60 * 1000; // 23 hours, because Resend forgets an idempotency key after 24

/**
 * Claims up to `limit` due mails for this runner, those of runners that died first; `undefined` if none is due.
 * `isSettling`: mails whose lease expired are left alone. Recipients are read only after the lease is written: a
 * suppression that is missed then was written by someone who saw the lease and waits for it.
 */
export async function claimDueMails(
  db: Db,
  { limit, leaseMs, nowMs, isSettling = false }: ClaimOptions,
): Promise<ClaimedEmail[] | undefined> {
  // Literals, so that both engines use the partial index.
  const mails = db.selectFrom("onboarding_emails").select("id").where(isKnown);
  const abandoned = mails.where(sql<boolean>`state = 'sending'`).where(({ not }) => not(isLeased(nowMs)));
  const scheduled = mails
    .where(sql<boolean>`state = 'scheduled'`)
    .where("next_attempt_at_ms", "<=", nowMs)
    .orderBy("next_attempt_at_ms");
  for (const due of isSettling ? [scheduled] : [abandoned, scheduled]) {
    // Checked without a lock first, because usually nothing is due.
    if (!(await hasRow(due.limit(1)))) continue;
    const leaseUntilMs = nowMs + leaseMs;
    const rows = await db
      .with("next", () => due.limit(limit).forUpdate().skipLocked())
      .updateTable("onboarding_emails")
      .set(({ eb, fn, val }) => ({
        state: "sending" satisfies EmailState,
        next_attempt_at_ms: leaseUntilMs,
        lease_until_ms: leaseUntilMs,
        attempts: eb("attempts", "+", 1),
        first_attempt_at_ms: fn.coalesce("first_attempt_at_ms", val(nowMs)),
      }))
      .where("id", "in", (query) => query.selectFrom("next").select("id"))
      .returning("id")
      .execute();
    const ids = rows.map(({ id }) => id);
    return ids.length === 0 ? [] : resolveRecipients(db, ids, { leaseUntilMs, nowMs });
  }
  return undefined;
}

/**
 * A newer version may have written kinds unknown to this one. `case` hides them from PostgreSQL's planner, which would
 * take each one for rare and sort all due rows instead of reading the index in order.
 */
const isKnown = sql<boolean>`case when kind in (${sql.join(onboardingKinds)}) then 1 else 0 end > 0`;

/**
 * Adds the account's current address to leased mails. Mails to suppressed addresses, to deleted accounts and
 * about a company whose trial has ended are stopped, those first tried too long ago fail, and those whose account has a
 * new address are rescheduled for that address.
 */
async function resolveRecipients(
  db: Db,
  ids: string[],
  { leaseUntilMs, nowMs }: { leaseUntilMs: number; nowMs: number },
) {
  const rows = await db
    .selectFrom("onboarding_emails as mail")
    .leftJoin("accounts", "accounts.id", "mail.account_id")
    .leftJoin("email_suppressions as stop", "stop.email_hash", "mail.recipient_hash")
    .select(["mail.id", "account_id as accountId", "recipient_hash", "attempts", "failure"])
    .select(({ ref }) => ref("kind").$castTo<OnboardingKind>().as("kind"))
    .select(({ fn, val }) => fn.coalesce("first_attempt_at_ms", val(nowMs)).as("firstAttemptAtMs"))
    .select(["accounts.email", "plan", "trial_ends_at_ms", "stop.email_hash as suppressed_hash"])
    .where("mail.id", "in", ids)
    .execute();
  const unsent: { id: string; columns: Updateable<Tables["onboarding_emails"]> }[] = [];
  const claimed = rows.flatMap(({ email, recipient_hash, suppressed_hash, failure, ...row }) => {
    const { plan, trial_ends_at_ms, ...mail } = row;
    const settle = (columns: (typeof unsent)[number]["columns"]) => {
      unsent.push({ id: mail.id, columns });
      return [];
    };
    const hasEnded = plan === "trial" && trial_ends_at_ms !== null && trial_ends_at_ms <= nowMs;
    if (email === null || suppressed_hash !== null || hasEnded) return settle(settled("stopped"));
    if (mail.firstAttemptAtMs <= nowMs - giveUpAfterMs)
      return settle({ ...settled("failed"), failure: failure ?? "delivery unknown" });
    if (hashEmail(email) !== recipient_hash)
      return settle({ ...settled("scheduled"), recipient_hash: hashEmail(email), next_attempt_at_ms: nowMs });
    return [{ ...mail, to: email, leaseUntilMs }];
  });
  if (unsent.length > 0)
    await transact(db, async (transaction) => {
      for (const { id, columns } of unsent)
        await updateLeased(transaction, { id, leaseUntilMs }).set(columns).execute();
    });
  return claimed;
}

const settled = (state: EmailState) => ({ state, lease_until_ms: null });

/** What became of a claimed mail: it was sent, or why not, and when it is tried again, if it is. */
export type FinishedMail = ClaimedEmail & { failure?: SendError | undefined; next?: NextAttempt | undefined };

/**
 * Records what became of mails in one transaction. One whose lease has expired and was claimed again is left alone. While
 * the delivery is unknown, the lease stays until it expires.
 */
export function recordOutcomes(db: Db, finished: FinishedMail[]): Promise<void> {
  return transact(db, async (transaction) => {
    for (const { failure, next, ...mail } of finished) {
      const columns = {
        ...settled(next ? "scheduled" : failure ? "failed" : "sent"),
        failure: failure?.message ?? null,
        ...(failure?.mayArrive && { lease_until_ms: mail.leaseUntilMs }),
        ...(next && { next_attempt_at_ms: next.atMs, attempts: next.attempts }),
      };
      await updateLeased(transaction, mail).set(columns).execute();
    }
  });
}

/** Updates a mail only while this lease is its own: a later claim writes another expiry. */
function updateLeased(db: Db, { id, leaseUntilMs }: Pick<ClaimedEmail, "id" | "leaseUntilMs">) {
  return db
    .updateTable("onboarding_emails")
    .where("id", "=", id)
    .where("state", "=", "sending" satisfies EmailState)
    .where("lease_until_ms", "=", leaseUntilMs);
}
