import { setTimeout as sleep } from "node:timers/promises";
import { keptColumns } from "@/lib/accounts/account-columns";
import { findFormerEmails } from "@/lib/accounts/email-change";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { type Actor, auditEntries, auditedTransaction } from "@/lib/db/audit";
import { sweepDrafts } from "@/lib/db/backup-copy";
import { subjectOfState } from "@/lib/db/connect-state";
import { erasure } from "@/lib/db/erasures";
import { hasRow } from "@/lib/db/has-row";
import { anonymousEmail, pseudonymOf } from "@/lib/db/pseudonym";
import { findMentions, mentionsOfEmail, mentionsOfId, replaceMentions } from "@/lib/db/redaction";
import { type Db, processStore } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { findTimeZone } from "@/lib/mail/kind";
import { requireKeys } from "@/lib/mail/links/link-keys";
import { deleteMailsTo, enqueueMail } from "@/lib/mail/outbox/outbox";
import { hashEmail } from "@/lib/mail/outbox/suppressions";
import { eraseMailFiles } from "@/lib/mail/senders/file-sender";

/** How many rows one statement changes of what grows with an account's use: the embedded store blocks meanwhile. */
const stepRows = 2000;
const pauseMs = 10;

/**
 * Erases a person from every table and from the files in `DATA_DIR`: the address in any spelling, the addresses that the account
 * had before, its id and subject, the sessions, the passkeys, and the apps' grants. That is one transaction, but what much use
 * has left goes in steps before it. The ledger, the outcomes of mails and the audit stay under pseudonyms, and the suppression
 * stays as a hash. An owner who left gets a last mail. Throws an {@link ApiError} if nothing is stored about the address.
 */
export async function erasePerson(db: Db, email: string, by: Actor, nowMs: number): Promise<void> {
  const former = await findFormerEmails(db, email);
  await eraseEmail(db, email, by, nowMs);
  for (const each of former)
    await eraseEmail(db, each, by === "owner" ? "service" : by, nowMs).catch((failure) => {
      if (!(failure instanceof ApiError && failure.code === "not_found")) throw failure; // nothing was left of it
    });
}

/** Erases one of a person's emails, and the account that has it. */
async function eraseEmail(db: Db, email: string, by: Actor, nowMs: number): Promise<void> {
  await requireKeys(db); // to find the waiting mails
  const hash = hashEmail(email);
  // The audit entry of the erasure must not contain the erased data.
  const about = { by, what: erasure, whom: hash, readState: async () => null } as const;
  const ids = await findIds(db, email);
  await emptyAccount(db, { email, by, hash }, nowMs);
  const ofIds = ids.map((id) => ({ mention: mentionsOfId(id), by: pseudonymOf(id) }));
  const mention = mentionsOfEmail(email);
  // The audit can still be searched by the address, through its hash.
  const find = () =>
    findMentions(db, (table) => [{ mention, by: table === "audit_entries" ? hash : "(erased)" }, ...ofIds]);
  const mentions = await find();
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const timeZone = await findTimeZone(transaction, "email", email);
    const found = [
      await deleteMailsTo(transaction, email),
      ...(await deleteRowsOf(transaction, email)),
      await closeAccount(transaction, email, nowMs),
      await closeUsers(transaction, email, ids),
    ];
    // Grants, codes, refresh tokens, and answered requests.
    for (const id of ids)
      await transaction.deleteFrom("connect_state").where(subjectOfState(transaction), "=", id).execute();
    found.push(await replaceMentions(transaction, mentions));
    if (!found.includes(true)) {
      throw new ApiError("not_found", {
        message: "No data about this email is stored.",
        hint: "Check the spelling.",
      });
    }
    // Its attempts are not recorded: `record` in `mail/outbox/outboxes.ts`.
    const farewell = { kind: "farewell", to: email, atMs: nowMs, timeZone } as const;
    if (by === "owner") await enqueueMail(transaction, farewell, { nowMs });
  });
  const newMentions = await find();
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    await replaceMentions(transaction, newMentions);
    // What was noted of a mail that was being sent meanwhile.
    await transaction.deleteFrom("sign_in_mail_attempts").where("email", "=", email).execute();
  });
  await eraseMailFiles(settings().dataDir, new Map([[hash, nowMs]]));
  sweepDrafts(settings().dataDir);
  await processStore().purgeDeleted();
}

async function findIds(db: Db, email: string): Promise<string[]> {
  const accounts = await accountBy(db, "email", email).select(["id", "subject"]).execute();
  const users = await db.selectFrom("clerk_users").select("id").where("email", "=", email).execute();
  const ids = [...accounts.flatMap(({ id, subject }) => [id, subject]), ...users.map(({ id }) => id)];
  return [...new Set(ids.filter((id) => id !== null))];
}

function deleteRowsOf(transaction: Db, email: string): Promise<boolean[]> {
  const tables = [
    "waitlist",
    "invitations",
    "billing_unclaimed",
    "sign_in_codes",
    "sign_in_emails",
    "sign_in_mail_attempts",
  ] as const;
  const asked = transaction.deleteFrom("email_changes").where("to_email", "=", email);
  return Promise.all([
    ...tables.map((table) =>
      hasRow(transaction.deleteFrom(table).where("email", "=", email).returning("email")),
    ),
    hasRow(asked.returning("id")),
  ]);
}

/**
 * Empties an account whose use has left more than one transaction could change before its deadline; other writers of the
 * embedded store would wait for it, too. If this is interrupted, the erasure that is tried again goes on.
 */
async function emptyAccount(
  db: Db,
  { email, by, hash }: { email: string; by: Actor; hash: string },
  nowMs: number,
): Promise<void> {
  const account = await accountBy(db, "email", email).selectAll().executeTakeFirst();
  if (!account) return;
  const { id } = account;
  const entries = db.selectFrom("credit_entries").select("id").where("account_id", "=", id);
  const holds = db.selectFrom("holds").select("id").where("account_id", "=", id);
  const closed = holds.where("closed_as", "is not", null);
  const answers = db.selectFrom("backend_writes").select("key_hash").where("account_id", "=", id);
  if (await hasMany(entries)) {
    const about = { by, what: `${erasure} begun`, whom: hash, readState: async () => null } as const;
    await auditedTransaction(db, about, nowMs, (transaction) => keepAnonymous(transaction, account, nowMs));
  }
  await whileMany(entries, () => moveEntries(db, id).where("id", "in", entries.limit(stepRows)).execute());
  await whileMany(closed, () => db.deleteFrom("holds").where("id", "in", closed.limit(stepRows)).execute());
  const answersOf = db.deleteFrom("backend_writes").where("account_id", "=", id);
  await whileMany(answers, () => answersOf.where("key_hash", "in", answers.limit(stepRows)).execute());
}

type Rows = { limit: (rows: number) => { offset: (rows: number) => Parameters<typeof hasRow>[0] } };

const hasMany = (rows: Rows) => hasRow(rows.limit(1).offset(stepRows));

/** Changes some rows after the other, until few are left. */
async function whileMany(rows: Rows, change: () => Promise<unknown>): Promise<void> {
  while (await hasMany(rows)) {
    await change();
    await sleep(pauseMs);
  }
}

/**
 * Adds the anonymous account that stays of another one. Its id is new, because sent mails and people who saw the old one could
 * link it to the person. No event tells of it, also where an earlier step has added it and the balance changed since.
 */
async function keepAnonymous(transaction: Db, account: Tables["accounts"], nowMs: number): Promise<void> {
  const id = pseudonymOf(account.id);
  const anonymous = {
    ...keptColumns(account),
    id,
    email: anonymousEmail(id),
    subject: null,
    plan: "trial",
    trial_ends_at_ms: nowMs,
    trial_end_told_ms: nowMs,
    held_thousandths: 0,
  };
  await transaction
    .insertInto("accounts")
    .values(anonymous)
    .onConflict((conflict) => conflict.column("id").doUpdateSet(anonymous))
    .execute();
  await transaction.deleteFrom("events").where("account_id", "=", id).execute();
}

const moveEntries = (db: Db, accountId: string) =>
  db
    .updateTable("credit_entries")
    .set({ account_id: pseudonymOf(accountId), checkout: null })
    .where("account_id", "=", accountId);

/**
 * Replaces the account with an anonymous one, which keeps the ledger and the links in mails working. Returns whether there was
 * an account.
 */
async function closeAccount(transaction: Db, email: string, nowMs: number): Promise<boolean> {
  const account = await accountBy(transaction, "email", email).selectAll().forUpdate().executeTakeFirst();
  if (!account) return false;
  await keepAnonymous(transaction, account, nowMs);
  await moveEntries(transaction, account.id).execute();
  await forgetCheckouts(transaction, account.email);
  const mails = () => transaction.updateTable("onboarding_emails").where("account_id", "=", account.id);
  await mails().set({ state: "stopped" }).where("state", "=", "scheduled").execute();
  await mails()
    .set({ account_id: pseudonymOf(account.id) })
    .execute();
  // Deleting the account also deletes its sessions and passkeys.
  await transaction.deleteFrom("accounts").where("id", "=", account.id).execute();
  return true;
}

/** The audit of credits that were bought keeps the price and the amount, and not Stripe's id of the checkout. */
async function forgetCheckouts(transaction: Db, email: string): Promise<void> {
  const entries = auditEntries(transaction, { whom: [email], who: "stripe" });
  for (const { id, after } of await entries.where("after", "like", '%"checkout":%').execute()) {
    const forgotten = JSON.stringify({ ...JSON.parse(after ?? ""), checkout: "(erased)" });
    await transaction.updateTable("audit_entries").set({ after: forgotten }).where("id", "=", id).execute();
  }
}

async function closeUsers(transaction: Db, email: string, ids: string[]): Promise<boolean> {
  const users = await transaction
    .selectFrom("clerk_users")
    .select("id")
    .where(({ or, eb }) => or([eb("email", "=", email), ...ids.map((id) => eb("id", "=", id))]))
    .execute();
  for (const { id } of users) {
    // Of one who had come back there is a hash already.
    await transaction.deleteFrom("clerk_users").where("id", "=", pseudonymOf(id)).execute();
    await transaction
      .updateTable("clerk_users")
      .set({ id: pseudonymOf(id), email: "", is_deleted: 1 })
      .where("id", "=", id)
      .execute();
  }
  return users.length > 0;
}
