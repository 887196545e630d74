import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { type AuditedChange, auditedTransaction, type Operator } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import { pseudonymOf } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { takeDueRows } from "@/lib/mail/due-rows";
import { onboardingSeries } from "@/lib/mail/onboarding-series";
import { hashEmail, isSuppressed, suppress } from "@/lib/mail/suppressions";

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

const waitForLeasesMs = 1500;
const pollEveryMs = 50;

/** Schedules an account's onboarding mails in the caller's transaction, as stopped if the address is suppressed. */
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
 * Stops an account's later mails permanently: suppresses its current and former addresses, stops scheduled mails and
 * waits for the ones being sent, so that none is delivered after it returns true. False if a mail is still being sent
 * after 1.5 s. Idempotent; also works for deleted accounts and erased persons.
 */
export async function stopLaterEmails(db: Db, linkedId: string, nowMs: number): Promise<boolean> {
  const startedAtMs = performance.now();
  const { accountId, recipientHashes, to } = await findRecipient(db, linkedId);
  await suppressAndStop(db, { by: "unsubscribe link", whom: accountId }, { recipientHashes, to }, nowMs);
  // Mails that a runner reschedules in the meantime are stopped too, so that none is left to claim in the end.
  for (let waitedMs = 0; await isAnyPending(db, to, nowMs + waitedMs); ) {
    if (waitedMs > waitForLeasesMs) return false;
    await sleep(pollEveryMs);
    waitedMs = Math.round(performance.now() - startedAtMs);
    await stopPending(db, to, nowMs + waitedMs);
  }
  return true;
}

/** Whether an account's later mails are stopped at every address, so that an unsubscribe would change nothing. */
export async function areLaterEmailsStopped(db: Db, linkedId: string, nowMs: number): Promise<boolean> {
  const { recipientHashes, to } = await findRecipient(db, linkedId);
  for (const hash of recipientHashes) if (!(await isSuppressed(db, hash))) return false;
  return !(await isAnyPending(db, to, nowMs));
}

/** Suppresses an address that bounced or complained and stops its scheduled mails, in one transaction. */
export async function suppressEmail(db: Db, email: string, nowMs: number): Promise<void> {
  const recipientHashes = [hashEmail(email)];
  const about = { by: "resend", whom: email.toLowerCase() } as const;
  await suppressAndStop(db, about, { recipientHashes, to: isTo(recipientHashes) }, nowMs);
}

async function suppressAndStop(
  db: Db,
  about: Pick<AuditedChange, "by" | "whom">,
  { recipientHashes, to }: { recipientHashes: string[]; to: Condition },
  nowMs: number,
): Promise<void> {
  const readState = async (transaction: Db) => {
    const suppressed = [];
    for (const hash of recipientHashes) if (await isSuppressed(transaction, hash)) suppressed.push(hash);
    return { suppressed };
  };
  await auditedTransaction(db, { ...about, what: "mails stop", readState }, nowMs, async (transaction) => {
    await suppress(transaction, recipientHashes, nowMs);
    await stopPending(transaction, to, nowMs);
  });
}

/**
 * The account of a link, or the one that an erasure left of it, with the hashes of its current address and of every
 * address that its mails were for.
 */
async function findRecipient(db: Db, linkedId: string) {
  const pseudonym = pseudonymOf(linkedId);
  const isErased = await hasRow(accountBy(db, "id", pseudonym).select("id"));
  const accountId = isErased ? pseudonym : linkedId;
  const account = await accountBy(db, "id", accountId).select("email").executeTakeFirst();
  const mails = db.selectFrom("onboarding_emails").select("recipient_hash");
  const rows = await mails.where("account_id", "=", accountId).execute();
  const hashes = rows.map((row) => row.recipient_hash);
  if (account) hashes.push(hashEmail(account.email));
  const recipientHashes = [...new Set(hashes)];
  return { accountId, recipientHashes, to: isTo(recipientHashes, accountId) };
}

/** Whether a lease is active. One that expires too far in the future was written before a clock was set back. */
export function isLeased(nowMs: number): Condition {
  return ({ and, eb }) =>
    and([eb("lease_until_ms", ">", nowMs), eb("lease_until_ms", "<=", nowMs + maxLeaseMs)]);
}

type Condition = (builder: ExpressionBuilder<Tables, "onboarding_emails">) => Expression<SqlBool>;

const isTo =
  (recipientHashes: string[], ...accountIds: string[]): Condition =>
  ({ or, eb }) =>
    or([
      ...recipientHashes.map((hash) => eb("recipient_hash", "=", hash)),
      ...accountIds.map((id) => eb("account_id", "=", id)),
    ]);

function isAnyPending(db: Db, to: Condition, nowMs: number): Promise<boolean> {
  const mails = db.selectFrom("onboarding_emails").select("id").where(to).limit(1);
  return hasRow(mails.where((mail) => mail.or([mail("state", "=", "scheduled"), isLeased(nowMs)(mail)])));
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

const maxRetried = 1000;

/**
 * Schedules failed mails again, the one with this id or those that failed with these words, at most a thousand, except to
 * addresses that want none. Returns how many there were.
 */
export function retryFailedMails(
  db: Db,
  column: "id" | "failure",
  value: string,
  by: Operator,
  nowMs: number,
): Promise<number> {
  const whom = column === "id" ? value : null;
  const readState = async (_: Db, retried: unknown = 0) => ({ retried });
  return auditedTransaction(db, { by, what: "mails retry", whom, readState }, nowMs, async (transaction) => {
    const due = transaction
      .selectFrom("onboarding_emails")
      .select("id")
      .where(sql`state`, "=", sql`'failed'`) // as in the partial index
      .where(column, "=", value)
      .where("account_id", "in", (query) => query.selectFrom("accounts").select("id"))
      .where("recipient_hash", "not in", (query) =>
        query.selectFrom("email_suppressions").select("email_hash"),
      );
    const change = {
      state: "scheduled" satisfies EmailState,
      next_attempt_at_ms: nowMs,
      attempts: 0,
      first_attempt_at_ms: null,
      lease_until_ms: null,
    };
    const rows = await takeDueRows(transaction, "onboarding_emails", { due, limit: maxRetried, change });
    return rows?.length ?? 0;
  });
}

/** An account's onboarding mails in due order, with their last failure, if any. */
export async function listEmails(db: Db, accountId: string) {
  const rows = await db
    .selectFrom("onboarding_emails")
    .select(["id", "kind", "due_at_ms as at_ms", "state", "failure"])
    .where("account_id", "=", accountId)
    .orderBy("due_at_ms")
    .execute();
  return rows.map(describeMail);
}

/** A mail as the operator and its recipient see it. */
export function describeMail(
  mail: Pick<Tables["sign_in_mail_attempts"], "id" | "kind" | "at_ms" | "state" | "failure">,
) {
  const { id, kind, at_ms, state, failure } = mail;
  return { id, kind, dueAt: asIso(at_ms), state, ...(failure !== null && { failure }) };
}
