import { setTimeout as sleep } from "node:timers/promises";
import { accountBy } from "@/lib/db/account-by";
import { type Actor, type AuditedChange, auditedTransaction } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import { pseudonymOf } from "@/lib/db/pseudonym";
import { type Db, store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { readUnsubscribeToken } from "@/lib/mail/links/unsubscribe-token";
import { type Condition, type EmailState, isLeased } from "@/lib/mail/outbox/onboarding-outbox";
import { hashEmail, isSuppressed, suppress } from "@/lib/mail/outbox/suppressions";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

const stopTimeoutMs = 4000; // 2 s for the store's transaction, 1.5 s for mails that are being sent
const readTimeoutMs = 500;
const waitForLeasesMs = 1500;
const pollEveryMs = 50;

/**
 * The account id of an unsubscribe link with one valid `token`. Throws an {@link ApiError}: 400 for an invalid link, 502 if
 * the keys of links cannot be read.
 */
export async function readUnsubscribeLink(call: Call): Promise<string> {
  const [token = "", another] = call.query.getAll("token");
  if (another !== undefined) throw new ApiError("invalid_token");
  const accountId = await withTimeout(stopTimeoutMs, readUnsubscribeToken(token)).catch((failure) =>
    failToStop(failure, call),
  );
  if (!accountId) throw new ApiError("invalid_token");
  return accountId;
}

function failToStop(failure: unknown, { requestId }: Call): never {
  log().error({ err: failure, requestId }, "stopping the later emails failed; some may still be delivered");
  throw new ApiError("upstream_failed");
}

/**
 * Reads the state of an unsubscribe link's account. If it cannot be read in time, the emails count as not stopped.
 *
 * @returns the masked email of the account, which its owner recognises, and someone who was forwarded the mail does not
 *   learn; `undefined` if the account was deleted. And whether the later emails are stopped at every address already
 */
export function readSubscription(accountId: string) {
  const read = async () => {
    const db = await store();
    const account = await accountBy(db, "id", accountId).select("email").executeTakeFirst();
    const { recipientHashes, to } = await findRecipient(db, accountId);
    let isStopped = !(await isAnyPending(db, to, Date.now()));
    for (const hash of recipientHashes) isStopped &&= await isSuppressed(db, hash);
    const masked = account?.email.replace(/^(.).*(@[^@]*)$/u, "$1•••$2"); // c•••@example.com
    return { email: masked, isStopped };
  };
  return withTimeout(readTimeoutMs, read()).catch((failure) => {
    log().warn({ err: failure }, "the state of an unsubscribe link could not be read");
    return { email: undefined, isStopped: false };
  });
}

/** Stops the later emails of an account permanently. Throws an {@link ApiError} 502 if an email may still be delivered. */
export async function unsubscribe(accountId: string, by: Actor, call: Call): Promise<void> {
  const stopping = store().then((db) => stopLaterEmails(db, accountId, by, Date.now()));
  const isStopped = await withTimeout(stopTimeoutMs, stopping).catch((failure) => failToStop(failure, call));
  if (isStopped) return;
  const { requestId } = call;
  log().warn({ requestId }, "an onboarding mail was still being sent; it may still be delivered");
  throw new ApiError("upstream_failed");
}

/**
 * Stops an account's later onboarding mails permanently: suppresses its current and former addresses, stops scheduled mails and
 * waits for the ones being sent, so that none is delivered after it returns true. False if a mail is still being sent
 * after 1.5 s. Idempotent; also works for deleted accounts and erased persons.
 */
export async function stopLaterEmails(db: Db, linkedId: string, by: Actor, nowMs: number): Promise<boolean> {
  const startedAtMs = performance.now();
  const { accountId, recipientHashes, to } = await findRecipient(db, linkedId);
  await suppressAndStop(db, { by, whom: accountId }, { recipientHashes, to }, nowMs);
  // Mails that a runner reschedules in the meantime are stopped too, so that none is left to claim in the end.
  for (let waitedMs = 0; await isAnyPending(db, to, nowMs + waitedMs); ) {
    if (waitedMs > waitForLeasesMs) return false;
    await sleep(pollEveryMs);
    waitedMs = Math.round(performance.now() - startedAtMs);
    await stopPending(db, to, nowMs + waitedMs);
  }
  return true;
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
