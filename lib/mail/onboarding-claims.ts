import { type ExpressionBuilder, sql } from "kysely";
import * as z from "zod";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { type EmailState, isLeased } from "@/lib/mail/onboarding-outbox";
import { type OnboardingKind, onboardingKinds } from "@/lib/mail/onboarding-series";
import { hashEmail } from "@/lib/mail/suppressions";

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
const maxReleased = 100;

/**
 * Takes up to `most` due mails for this runner alone, however many runners ask; `undefined` when none is due, and fewer
 * than there are when some turn out not to be sent. Whom they are for is looked up once they are leased: a suppression
 * that is not seen then was written by somebody who sees the lease.
 */
export async function claimDueMails(
  db: Db,
  { most, leaseMs, nowMs }: { most: number; leaseMs: number; nowMs: number },
): Promise<ClaimedEmail[] | undefined> {
  await releaseAbandoned(db, nowMs);
  // Asked without a lock first: most of the time there is nothing.
  if (!(await nextDue(db, nowMs, 1).executeTakeFirst())) return undefined;
  const leaseUntilMs = nowMs + leaseMs;
  const rows = await db
    .with("next", () => nextDue(db, nowMs, most).forUpdate().skipLocked())
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
  return ids.length === 0 ? [] : sortOut(db, ids, { leaseUntilMs, nowMs });
}

/*
 * In literals, so that both engines see that it is the condition of the index, and walk along that. PostgreSQL would
 * take each kind that is listed for rare, and rather sort all that is due: so it is not told that they are kinds.
 */
const isScheduled = sql<boolean>`state = 'scheduled'`;
const isSending = sql<boolean>`state = 'sending'`;
/** A newer version may have written kinds that this one does not know. */
const isKnown = sql<boolean>`case when kind in (${sql.join(onboardingKinds)}) then 1 else 0 end > 0`;

function nextDue(db: Db, nowMs: number, most: number) {
  return db
    .selectFrom("onboarding_emails")
    .select("id")
    .where(isScheduled)
    .where("next_attempt_at_ms", "<=", nowMs)
    .where(isKnown)
    .orderBy("next_attempt_at_ms")
    .limit(most);
}

/** Puts back what a runner took that died. */
async function releaseAbandoned(db: Db, nowMs: number): Promise<void> {
  const abandoned = db
    .selectFrom("onboarding_emails")
    .select("id")
    .where(isSending)
    .where(({ not, ...builder }) => not(isLeased(nowMs)(builder as OutboxBuilder)));
  if (!(await abandoned.limit(1).executeTakeFirst())) return;
  await db
    .with("abandoned", () => abandoned.limit(maxReleased).forUpdate().skipLocked())
    .updateTable("onboarding_emails")
    .set({
      state: "scheduled" satisfies EmailState,
      next_attempt_at_ms: nowMs,
      lease_until_ms: null,
    })
    .where("id", "in", (query) => query.selectFrom("abandoned").select("id"))
    .execute();
}

type OutboxBuilder = ExpressionBuilder<Tables, "onboarding_emails">;

const leasedRow = z.object({
  id: z.string(),
  account_id: z.string(),
  recipient_hash: z.string(),
  kind: z.enum(onboardingKinds),
  attempts: z.int(),
  first_attempt_at_ms: z.int(),
  email: z.string().nullable(),
  suppressed_hash: z.string().nullable(),
});

/**
 * Says of leased mails to whom they go, and settles the others: nobody gets one who is suppressed or has no account any
 * more, and what was first tried so long ago that Resend may not know it again is given up. The address is the
 * account's own at the time of sending; where that is no longer the one that was looked up, the mail goes back, to be
 * claimed for the new one.
 */
async function sortOut(
  db: Db,
  ids: string[],
  { leaseUntilMs, nowMs }: { leaseUntilMs: number; nowMs: number },
): Promise<ClaimedEmail[]> {
  const rows = await db
    .selectFrom("onboarding_emails as mail")
    .leftJoin("accounts", "accounts.id", "mail.account_id")
    .leftJoin("email_suppressions as stop", "stop.email_hash", "mail.recipient_hash")
    .select(["mail.id", "account_id", "recipient_hash", "kind", "attempts", "first_attempt_at_ms"])
    .select(["accounts.email", "stop.email_hash as suppressed_hash"])
    .where("mail.id", "in", ids)
    .execute();
  const claimed: ClaimedEmail[] = [];
  const others = { toNobody: [] as string[], tooLate: [] as string[] };
  for (const row of z.array(leasedRow).parse(rows)) {
    const { id, account_id, kind, attempts, email } = row;
    if (email === null || row.suppressed_hash !== null) {
      others.toNobody.push(id);
    } else if (row.first_attempt_at_ms <= nowMs - giveUpAfterMs) {
      others.tooLate.push(id);
    } else if (hashEmail(email) !== row.recipient_hash) {
      await whileLeased(db, { id, leaseUntilMs })
        .set({
          state: "scheduled" satisfies EmailState,
          recipient_hash: hashEmail(email),
          next_attempt_at_ms: nowMs,
          lease_until_ms: null,
        })
        .execute();
    } else {
      claimed.push({ id, leaseUntilMs, accountId: account_id, kind, to: email, attempts });
    }
  }
  if (others.toNobody.length > 0) {
    await whileLeased(db, { ids: others.toNobody, leaseUntilMs })
      .set({ state: "stopped" satisfies EmailState, lease_until_ms: null })
      .execute();
  }
  if (others.tooLate.length > 0) {
    await whileLeased(db, { ids: others.tooLate, leaseUntilMs })
      .set(({ fn, val }) => ({
        state: "failed" satisfies EmailState,
        failure: fn.coalesce("failure", val("not known whether it was sent")),
        lease_until_ms: null,
      }))
      .execute();
  }
  return claimed;
}

/** What became of a mail that was claimed. `mayArrive`: nobody knows, so that its lease has to run out. */
export type Outcome =
  | { state: "sent" }
  | { state: "failed"; failure: string; mayArrive: boolean }
  | {
      state: "scheduled";
      failure: string;
      mayArrive: boolean;
      nextAttemptAtMs: number;
      /** It was not even tried. */
      isNoAttempt?: boolean;
    };

/** A claimed mail and what became of it. */
export type Finished = { email: ClaimedEmail; outcome: Outcome };

/**
 * Writes down what became of claimed mails, all or none, but for those whose lease was over and whom somebody else has
 * dealt with since.
 */
export async function finish(db: Db, finished: Finished[]): Promise<void> {
  const sent = new Map<number, string[]>();
  await db.transaction().execute(async (transaction) => {
    for (const { email, outcome } of finished) {
      if (outcome.state === "sent") {
        const { id, leaseUntilMs } = email;
        sent.set(leaseUntilMs, [...(sent.get(leaseUntilMs) ?? []), id]);
      } else {
        await whileLeased(transaction, email).set(changeOf(email, outcome)).execute();
      }
    }
    for (const [leaseUntilMs, ids] of sent) {
      await whileLeased(transaction, { ids, leaseUntilMs })
        .set({ state: "sent" satisfies EmailState, failure: null, lease_until_ms: null })
        .execute();
    }
  });
}

function changeOf(email: ClaimedEmail, outcome: Exclude<Outcome, { state: "sent" }>) {
  const { state, failure, mayArrive } = outcome;
  return {
    state,
    failure,
    lease_until_ms: mayArrive ? email.leaseUntilMs : null,
    ...(state === "scheduled" ? { next_attempt_at_ms: outcome.nextAttemptAtMs } : {}),
    ...(state === "scheduled" && outcome.isNoAttempt ? { attempts: email.attempts - 1 } : {}),
  };
}

/** The end of a lease is its owner's alone: whoever took the mail later has another. */
function whileLeased(db: Db, leased: { leaseUntilMs: number } & ({ id: string } | { ids: string[] })) {
  return db
    .updateTable("onboarding_emails")
    .where("id", "in", "ids" in leased ? leased.ids : [leased.id])
    .where("state", "=", "sending" satisfies EmailState)
    .where("lease_until_ms", "=", leased.leaseUntilMs);
}
