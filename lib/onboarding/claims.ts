import type { Expression, ExpressionBuilder, SqlBool, Updateable } from "kysely";
import { z } from "zod";
import type { EmailState } from "@/lib/onboarding/outbox";
import { type OnboardingKind, onboardingKinds } from "@/lib/onboarding/series";
import { hashEmail } from "@/lib/onboarding/suppressions";
import type { Db } from "@/lib/store/store";
import type { Tables } from "@/lib/store/tables";

/** A mail that this runner alone may send, until its lease is over. */
export type ClaimedEmail = {
  id: string;
  accountId: string;
  kind: OnboardingKind;
  /** The address of the account, read after the claim. */
  to: string;
  attempts: number;
  leaseUntilMs: number;
};

const giveUpAfterMs = 23 * 60 * 60 * 1000; // 23 hours: Resend knows an id again for 24 hours, and no longer

/**
 * Takes up to `most` due mails for this runner alone, however many runners ask, and ends those that are never to be
 * sent. One statement chooses, locks and leases; suppressed recipients are left out in it.
 */
export async function claimDue(
  db: Db,
  { most, leaseMs, nowMs }: { most: number; leaseMs: number; nowMs: number },
): Promise<ClaimedEmail[]> {
  if (!(await isAnyDue(db, nowMs))) return [];
  await endOverdue(db, nowMs);
  const leaseUntilMs = nowMs + leaseMs;
  const rows = await db
    .updateTable("onboarding_emails")
    .set(({ eb, fn, val }) => ({
      state: "sending" satisfies EmailState,
      next_attempt_at_ms: leaseUntilMs,
      lease_until_ms: leaseUntilMs,
      attempts: eb("attempts", "+", 1),
      first_attempt_at_ms: fn.coalesce("first_attempt_at_ms", val(nowMs)),
    }))
    .where("id", "in", (query) =>
      query
        .selectFrom("onboarding_emails")
        .select("id")
        .where(isDue(nowMs))
        .where((builder) => builder.not(isForNobody(builder)))
        // A newer version may have written kinds that this one does not know.
        .where("kind", "in", onboardingKinds)
        .orderBy("next_attempt_at_ms")
        .limit(most),
    )
    // Said again outside, where PostgreSQL looks again once it has waited for another runner's lock on the row.
    .where(isDue(nowMs))
    .where((builder) => builder.not(isForNobody(builder)))
    .returning(["id", "account_id", "recipient_hash", "kind", "attempts"])
    .execute();
  return addAddresses(db, z.array(claimedRow).parse(rows), leaseUntilMs);
}

const claimedRow = z.object({
  id: z.string(),
  account_id: z.string(),
  recipient_hash: z.string(),
  kind: z.enum(onboardingKinds),
  attempts: z.int(),
});

const pending = ["scheduled", "sending"] satisfies EmailState[];

type OutboxBuilder = ExpressionBuilder<Tables, "onboarding_emails">;

const isDue =
  (nowMs: number) =>
  ({ and, eb }: OutboxBuilder): Expression<SqlBool> =>
    and([eb("state", "in", pending), eb("next_attempt_at_ms", "<=", nowMs)]);

/** The recipient is suppressed, or has no account any more. */
function isForNobody({ or, not, exists, selectFrom }: OutboxBuilder): Expression<SqlBool> {
  return or([
    exists(
      selectFrom("email_suppressions")
        .select("email_hash")
        .whereRef("email_hash", "=", "onboarding_emails.recipient_hash"),
    ),
    not(
      exists(
        selectFrom("accounts")
          .select("accounts.id")
          .whereRef("accounts.id", "=", "onboarding_emails.account_id"),
      ),
    ),
  ]);
}

async function isAnyDue(db: Db, nowMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("onboarding_emails")
    .select("id")
    .where(isDue(nowMs))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stops what is due to nobody, and gives up what was first tried so long ago that Resend may not know it again. */
async function endOverdue(db: Db, nowMs: number): Promise<void> {
  await db
    .updateTable("onboarding_emails")
    .set({ state: "stopped" satisfies EmailState })
    .where(isDue(nowMs))
    .where(isForNobody)
    .execute();
  await db
    .updateTable("onboarding_emails")
    .set(({ fn, val }) => ({
      state: "failed" satisfies EmailState,
      failure: fn.coalesce("failure", val("not known whether it was sent")),
    }))
    .where(isDue(nowMs))
    .where("first_attempt_at_ms", "<=", nowMs - giveUpAfterMs)
    .execute();
}

/**
 * The address is the account's own at the time of sending. Where it is no longer the one that the claim was checked
 * for, the mail goes back, to be claimed for the new one.
 */
async function addAddresses(
  db: Db,
  rows: z.infer<typeof claimedRow>[],
  leaseUntilMs: number,
): Promise<ClaimedEmail[]> {
  if (rows.length === 0) return [];
  const accounts = await db
    .selectFrom("accounts")
    .select(["id", "email"])
    .where(
      "id",
      "in",
      rows.map((row) => row.account_id),
    )
    .execute();
  const emails = new Map(accounts.map(({ id, email }) => [id, email]));
  const claimed: ClaimedEmail[] = [];
  for (const { id, account_id, recipient_hash, kind, attempts } of rows) {
    const to = emails.get(account_id);
    const lease = { id, leaseUntilMs };
    if (to && hashEmail(to) === recipient_hash) {
      claimed.push({ ...lease, accountId: account_id, kind, to, attempts });
    } else if (to) {
      const change = { recipient_hash: hashEmail(to), next_attempt_at_ms: 0, lease_until_ms: null };
      await moveOn(db, lease, { state: "scheduled", ...change });
    } else {
      await moveOn(db, lease, { state: "stopped", lease_until_ms: null });
    }
  }
  return claimed;
}

/** What became of a mail that was claimed. `mayArrive`: nobody knows, so that its lease has to run out. */
export type Outcome =
  | { state: "sent" }
  | { state: "failed"; failure: string; mayArrive: boolean }
  | { state: "scheduled"; failure: string; mayArrive: boolean; nextAttemptAtMs: number };

/** Writes down what became of a claimed mail, unless its lease was over and somebody else has dealt with it since. */
export async function finish(db: Db, email: ClaimedEmail, outcome: Outcome): Promise<void> {
  const { state } = outcome;
  if (state === "sent") return moveOn(db, email, { state, failure: null, lease_until_ms: null });
  const { failure, mayArrive } = outcome;
  await moveOn(db, email, {
    state,
    failure,
    lease_until_ms: mayArrive ? email.leaseUntilMs : null,
    ...(state === "scheduled" ? { next_attempt_at_ms: outcome.nextAttemptAtMs } : {}),
  });
}

/** The end of a lease is its owner's alone: whoever took the mail later has another. */
async function moveOn(
  db: Db,
  { id, leaseUntilMs }: Pick<ClaimedEmail, "id" | "leaseUntilMs">,
  change: Updateable<Tables["onboarding_emails"]> & { state: EmailState },
): Promise<void> {
  await db
    .updateTable("onboarding_emails")
    .set(change)
    .where("id", "=", id)
    .where("state", "=", "sending" satisfies EmailState)
    .where("lease_until_ms", "=", leaseUntilMs)
    .execute();
}
