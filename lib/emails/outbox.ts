import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Expression, ExpressionBuilder, SqlBool, Updateable } from "kysely";
import { z } from "zod";
import { type OnboardingKind, onboardingKinds, onboardingSeries } from "@/lib/emails/series";
import { hashEmail, isSuppressed, suppress } from "@/lib/emails/suppressions";
import type { Db } from "@/lib/store/store";
import type { Tables } from "@/lib/store/tables";

/**
 * Where an onboarding mail stands:
 *
 *     scheduled → sending → sent
 *         ↑          ├────→ failed      refused for good, or tried for too long
 *         └──────────┘ to be tried again
 *     scheduled, or sending once its lease is over → stopped
 *
 * A runner takes it with a lease, which says until when the mail may still be delivered by that runner's doing. A lease
 * ends early once it is certain what became of the mail.
 */
export type EmailState = "scheduled" | "sending" | "sent" | "stopped" | "failed";

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

/** A mail to the address is still being handed over: nobody can say yet that none will be delivered. */
export class StillSendingError extends Error {
  constructor() {
    super("an onboarding mail was still being sent");
  }
}

const dayMs = 24 * 60 * 60 * 1000;
const waitForLeasesMs = 1500;
const lookAgainAfterMs = 50;
const giveUpAfterMs = 23 * 60 * 60 * 1000; // 23 hours: Resend knows an id again for 24 hours, and no longer

/** Writes an account's onboarding mails, in the caller's transaction; stopped ones to a suppressed address. */
export async function scheduleOnboarding(
  transaction: Db,
  recipient: { accountId: string; email: string },
  nowMs: number,
): Promise<void> {
  const recipientHash = hashEmail(recipient.email);
  const state: EmailState = (await isSuppressed(transaction, recipientHash)) ? "stopped" : "scheduled";
  const rows = onboardingSeries.map(({ kind, afterDays }) => ({
    id: randomUUID(),
    account_id: recipient.accountId,
    recipient_hash: recipientHash,
    kind,
    due_at_ms: nowMs + afterDays * dayMs,
    state,
    next_attempt_at_ms: nowMs + afterDays * dayMs,
  }));
  await transaction.insertInto("onboarding_emails").values(rows).execute();
}

/**
 * Stops an account's later mails for good. Once it returns, none is delivered any more: the addresses that the
 * account has or had are suppressed, what was scheduled is stopped, and what was being sent has been sent or broken
 * off. An account that is gone is no exception: an account made anew with its address gets no mail either.
 *
 * Again is the same. Throws a {@link StillSendingError} when a mail is still being sent after 1.5 s.
 */
export async function stopLaterEmails(db: Db, accountId: string, nowMs: number): Promise<void> {
  const startedAtMs = performance.now();
  const hashes = await db.transaction().execute(async (transaction) => {
    const found = await findRecipientHashes(transaction, accountId);
    await suppress(transaction, found, nowMs);
    await stopPending(transaction, found, nowMs);
    return found;
  });
  let waitedMs = 0;
  while (await mayAnyArrive(db, hashes, nowMs + waitedMs)) {
    if (waitedMs > waitForLeasesMs) throw new StillSendingError();
    await sleep(lookAgainAfterMs);
    waitedMs = Math.round(performance.now() - startedAtMs);
  }
  if (waitedMs > 0) await stopPending(db, hashes, nowMs + waitedMs);
}

/** Suppresses an address and stops what is still scheduled to it: both or neither. Again is the same. */
export async function suppressEmail(db: Db, email: string, nowMs: number): Promise<void> {
  const hashes = [hashEmail(email)];
  await db.transaction().execute(async (transaction) => {
    await suppress(transaction, hashes, nowMs);
    await stopPending(transaction, hashes, nowMs);
  });
}

/** The addresses that an account has, had when its mails were written, or got mail at. */
async function findRecipientHashes(transaction: Db, accountId: string): Promise<string[]> {
  const account = await transaction
    .selectFrom("accounts")
    .select("email")
    .where("id", "=", accountId)
    .executeTakeFirst();
  const rows = await transaction
    .selectFrom("onboarding_emails")
    .select("recipient_hash")
    .where("account_id", "=", accountId)
    .execute();
  const hashes = rows.map((row) => row.recipient_hash);
  if (account) hashes.push(hashEmail(account.email));
  return [...new Set(hashes)];
}

async function mayAnyArrive(db: Db, recipientHashes: string[], nowMs: number): Promise<boolean> {
  if (recipientHashes.length === 0) return false;
  const row = await db
    .selectFrom("onboarding_emails")
    .select("id")
    .where("recipient_hash", "in", recipientHashes)
    .where("lease_until_ms", ">", nowMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function stopPending(db: Db, recipientHashes: string[], nowMs: number): Promise<void> {
  if (recipientHashes.length === 0) return;
  await db
    .updateTable("onboarding_emails")
    .set({ state: "stopped" satisfies EmailState })
    .where("recipient_hash", "in", recipientHashes)
    .where(({ or, and, eb }) =>
      or([
        eb("state", "=", "scheduled" satisfies EmailState),
        and([eb("state", "=", "sending" satisfies EmailState), eb("lease_until_ms", "<=", nowMs)]),
      ]),
    )
    .execute();
}

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

/** An account's onboarding mails, in the order they are due; with the last failure of those that have one. */
export async function listEmails(db: Db, accountId: string) {
  const rows = await db
    .selectFrom("onboarding_emails")
    .select(["id", "kind", "due_at_ms", "state", "failure"])
    .where("account_id", "=", accountId)
    .orderBy("due_at_ms")
    .execute();
  return rows.map(({ id, kind, due_at_ms, state, failure }) => ({
    id,
    kind,
    dueAt: new Date(due_at_ms).toISOString(),
    state,
    ...(failure === null ? {} : { failure }),
  }));
}
