import { keptColumns } from "@/lib/accounts/account-columns";
import { findFormerEmails } from "@/lib/accounts/email-change";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { type Actor, auditEntries, auditedTransaction } from "@/lib/db/audit";
import { sweepDrafts } from "@/lib/db/backup-copy";
import { subjectOfState } from "@/lib/db/connect-state";
import { erasure } from "@/lib/db/erasures";
import { hasRow } from "@/lib/db/has-row";
import { pseudonymOf } from "@/lib/db/pseudonym";
import { findMentions, mentionsOfEmail, mentionsOfId, replaceMentions } from "@/lib/db/redaction";
import { type Db, processStore } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { findTimeZone } from "@/lib/mail/kind";
import { requireKeys } from "@/lib/mail/links/link-keys";
import { deleteMailsTo, enqueueMail } from "@/lib/mail/outbox/outbox";
import { hashEmail } from "@/lib/mail/outbox/suppressions";
import { eraseMailFiles } from "@/lib/mail/senders/file-sender";

/**
 * Erases a person from every table, in one transaction, and from the files in `DATA_DIR`: the address in any spelling,
 * the account's id and subject, the sessions, the passkeys, and the apps' grants. The ledger, the outcomes of mails and
 * the audit stay under pseudonyms, and the suppression stays as a hash. Throws an {@link ApiError} if nothing is stored
 * about the address. So are the emails that the account had before. An owner who left gets a last mail.
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
 * Replaces the account with an anonymous one, which keeps the ledger and the links in mails working. Its id is new,
 * because sent mails and people who saw the old id could link it to the person. Returns whether there was an account.
 */
async function closeAccount(transaction: Db, email: string, nowMs: number): Promise<boolean> {
  const account = await accountBy(transaction, "email", email).selectAll().forUpdate().executeTakeFirst();
  if (!account) return false;
  const id = pseudonymOf(account.id);
  const nowhere = `${id.toLowerCase()}@erased.invalid`; // RFC 2606 §2: this host can never exist
  const closed = {
    id,
    email: nowhere,
    subject: null,
    plan: "trial",
    trial_ends_at_ms: nowMs,
    trial_end_told_ms: nowMs,
    held_thousandths: 0,
  };
  await transaction
    .insertInto("accounts")
    .values({ ...keptColumns(account), ...closed })
    .execute();
  await transaction
    .updateTable("credit_entries")
    .set({ account_id: id, checkout: null })
    .where("account_id", "=", account.id)
    .execute();
  await forgetCheckouts(transaction, account.email);
  const mails = () => transaction.updateTable("onboarding_emails").where("account_id", "=", account.id);
  await mails().set({ state: "stopped" }).where("state", "=", "scheduled").execute();
  await mails().set({ account_id: id }).execute();
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
    await transaction
      .updateTable("clerk_users")
      .set({ id: pseudonymOf(id), email: "", is_deleted: 1 })
      .where("id", "=", id)
      .execute();
  }
  return users.length > 0;
}
