import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { auditedTransaction } from "@/lib/db/audit";
import { pseudonymOf } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { onboardingSeries } from "@/lib/mail/onboarding-series";
import { hashEmail, isSuppressed, readSuppressionsForAudit, suppress } from "@/lib/mail/suppressions";

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

/** A mail to the address is still being handed over: nobody can say yet that none will be delivered. */
export class StillSendingError extends Error {
  constructor() {
    super("an onboarding mail was still being sent");
  }
}

/** No lease is longer, and no two clocks of ours differ by more. */
const longestLeaseMs = 75_000; // 75 seconds

const waitForLeasesMs = 1500;
const lookAgainAfterMs = 50;

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
 * The same holds for the link of a person who was erased. Again is the same. Throws a {@link StillSendingError} when a mail is still being sent after 1.5 s.
 */
export async function stopLaterEmails(db: Db, linkedId: string, nowMs: number): Promise<void> {
  const startedAtMs = performance.now();
  const accountId = await findName(db, linkedId);
  const recipientHashes = await findRecipientHashes(db, accountId);
  const look = readSuppressionsForAudit(recipientHashes);
  const about = { by: "unsubscribe link", what: "mails stop", whom: accountId, look } as const;
  const to = await auditedTransaction(db, about, nowMs, async (transaction) => {
    const recipient = isTo(recipientHashes, accountId);
    await suppress(transaction, recipientHashes, nowMs);
    await stopPending(transaction, recipient, nowMs);
    return recipient;
  });
  // Whatever a runner puts back meanwhile is stopped as well, so that the last look finds nothing left to be claimed.
  for (let waitedMs = 0; await isAnyPending(db, to, nowMs + waitedMs); ) {
    if (waitedMs > waitForLeasesMs) throw new StillSendingError();
    await sleep(lookAgainAfterMs);
    waitedMs = Math.round(performance.now() - startedAtMs);
    await stopPending(db, to, nowMs + waitedMs);
  }
}

/** What the account of a link is called by now. */
async function findName(db: Db, id: string): Promise<string> {
  const pseudonym = pseudonymOf(id);
  const erased = db.selectFrom("accounts").select("id").where("id", "=", pseudonym);
  return (await erased.executeTakeFirst()) ? pseudonym : id;
}

/** Suppresses an address that bounces or complains, and stops what is still scheduled to it: both or neither. */
export async function suppressEmail(db: Db, email: string, nowMs: number): Promise<void> {
  const recipientHashes = [hashEmail(email)];
  const look = readSuppressionsForAudit(recipientHashes);
  const about = { by: "resend", what: "mails stop", whom: email.toLowerCase(), look } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    await suppress(transaction, recipientHashes, nowMs);
    await stopPending(transaction, isTo(recipientHashes), nowMs);
  });
}

/** The addresses that an account has, had when its mails were written, or got mail at. */
async function findRecipientHashes(db: Db, accountId: string): Promise<string[]> {
  const account = await db
    .selectFrom("accounts")
    .select("email")
    .where("id", "=", accountId)
    .executeTakeFirst();
  const rows = await db
    .selectFrom("onboarding_emails")
    .select("recipient_hash")
    .where("account_id", "=", accountId)
    .execute();
  const hashes = rows.map((row) => row.recipient_hash);
  if (account) hashes.push(hashEmail(account.email));
  return [...new Set(hashes)];
}

/** Whether a lease goes on. One that ends too late was written before a clock was set back, and is over. */
export function isLeased(nowMs: number): Condition {
  return ({ and, eb }) =>
    and([eb("lease_until_ms", ">", nowMs), eb("lease_until_ms", "<=", nowMs + longestLeaseMs)]);
}

type Condition = (builder: ExpressionBuilder<Tables, "onboarding_emails">) => Expression<SqlBool>;

const isTo =
  (recipientHashes: string[], ...accountIds: string[]): Condition =>
  ({ or, eb }) =>
    or([
      ...recipientHashes.map((hash) => eb("recipient_hash", "=", hash)),
      ...accountIds.map((id) => eb("account_id", "=", id)),
    ]);

/** Whether a mail may still arrive, or was put back to be tried again since the others were stopped. */
async function isAnyPending(db: Db, to: Condition, nowMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("onboarding_emails")
    .select("id")
    .where(to)
    .where((builder) =>
      builder.or([builder("state", "=", "scheduled" satisfies EmailState), isLeased(nowMs)(builder)]),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function stopPending(db: Db, to: Condition, nowMs: number): Promise<void> {
  await db
    .updateTable("onboarding_emails")
    .set({ state: "stopped" satisfies EmailState })
    .where(to)
    .where(({ or, and, not, eb }) =>
      or([
        eb("state", "=", "scheduled" satisfies EmailState),
        and([eb("state", "=", "sending" satisfies EmailState), not(isLeased(nowMs))]),
      ]),
    )
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
