import { randomBytes } from "node:crypto";
import { lockEmail } from "@/lib/auth/codes/sign-in-code-limits";
import { dayMs } from "@/lib/config/durations";
import { accountBy, lockAccount } from "@/lib/db/account-by";
import { type Actor, auditedTransaction, type Operator } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { findTimeZone } from "@/lib/mail/kind";
import { type ChangeToken, findEmailChange, isWaiting } from "@/lib/mail/links/email-change-token";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import { hashEmail, hashMailbox, isSuppressed, suppress } from "@/lib/mail/outbox/suppressions";

/*
 * An owner moves their account to another email. They prove who they are, and then the button behind the link of a mail is
 * pressed in both mailboxes; a code that was mailed to the old one just before counts as its word. Until then nothing
 * changes. That the new email has an account is said in that mailbox alone. For an owner who cannot read the old mailbox any
 * more, an operator gives its word: then it can stop the change, and the new one is asked a day later. The requests of a day
 * are kept, because they are counted; those that were carried out are kept for `RETENTION_DAYS`, so that an erasure finds the
 * former email.
 */

/** How long the links work. */
export const emailChangeMs = dayMs;

/** Requests in a day, so that no account writes to strangers, and no mailbox hears from many accounts. */
const mostADay = { ofAccount: 3, toMailbox: 3 };

type Change = Tables["email_changes"];
type Mover = { id: string; email: string };

/**
 * Asks both mailboxes about a change, in place of an earlier request. Returns why not, if it is refused.
 *
 * @param isMailProved - whether the owner has just proved who they are by something that was mailed to the old one
 * @param operator - who asks in place of the owner
 */
export async function askForEmail(
  db: Db,
  { id: account_id, email }: Mover,
  { to, isMailProved = false, operator }: { to: string; isMailProved?: boolean; operator?: Operator },
  nowMs: number,
): Promise<"same" | "often" | undefined> {
  if (to === email) return "same";
  const about = auditChange("email change asked", operator ?? "owner", { id: account_id, email });
  const graceMs = operator ? emailChangeMs : 0;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const mailbox_hash = hashMailbox(to);
    // The mailbox, however it is written.
    await lockEmail(transaction, mailbox_hash);
    if (!(await lockAccount(transaction, account_id))) throw new ApiError("forbidden");
    const recent = await transaction
      .selectFrom("email_changes")
      .select(["account_id", "mailbox_hash"])
      .where("asked_at_ms", ">", nowMs - dayMs)
      .where(({ or, eb }) => or([eb("account_id", "=", account_id), eb("mailbox_hash", "=", mailbox_hash)]))
      .execute();
    const count = (isCounted: (row: (typeof recent)[number]) => boolean) => recent.filter(isCounted).length;
    const isMailboxTired = count((row) => row.mailbox_hash === mailbox_hash) >= mostADay.toMailbox;
    if (count((row) => row.account_id === account_id) >= mostADay.ofAccount) return "often";
    if (operator && isMailboxTired) return "often";
    await endRequests(transaction, account_id, nowMs);
    const untilMs = nowMs + graceMs + emailChangeMs;
    const id = randomBytes(16).toString("base64url");
    const change: Change = {
      id,
      account_id,
      from_email: email,
      to_email: to,
      mailbox_hash,
      asked_at_ms: nowMs,
      until_ms: untilMs,
      from_confirmed_at_ms: isMailProved || operator ? nowMs : null,
      to_confirmed_at_ms: null,
      changed_at_ms: null,
      told_at_ms: null,
      asked_by: operator ?? null,
    };
    await transaction.insertInto("email_changes").values(change).execute();
    const mail = { kind: "email change", id, other: to, untilMs } as const;
    await enqueueMail(transaction, { ...mail, to: email, side: "from" }, { nowMs, untilMs });
    // Which of the two it was, no answer tells an owner.
    if (!isMailboxTired)
      await enqueueMail(
        transaction,
        { ...mail, to, side: "to" },
        { nowMs, dueAtMs: nowMs + graceMs, untilMs },
      );
    return undefined;
  });
}

/** Ends a request that waits. */
export async function stopEmailChange(
  db: Db,
  mover: Mover,
  by: Extract<Actor, "owner" | "mail link">,
  nowMs: number,
): Promise<void> {
  await auditedTransaction(db, auditChange("email change stopped", by, mover), nowMs, (transaction) =>
    endRequests(transaction, mover.id, nowMs),
  );
}

/** The request of an account that waits; `undefined` if none does. */
export function findWaiting(db: Db, accountId: string, nowMs: number): Promise<Change | undefined> {
  const ofAccount = db.selectFrom("email_changes").selectAll().where("account_id", "=", accountId);
  return ofAccount.where("changed_at_ms", "is", null).where("until_ms", ">", nowMs).executeTakeFirst();
}

/** The query of the email that the owner has now who had this one before, and since when. */
export function whoseFormerEmail(db: Db, email: string) {
  return db
    .selectFrom("email_changes")
    .innerJoin("accounts", "accounts.id", "email_changes.account_id")
    .select(["accounts.email", "changed_at_ms"])
    .where("from_email", "=", email)
    .where("changed_at_ms", "is not", null)
    .orderBy("changed_at_ms", "desc")
    .limit(1);
}

/** The emails that an account had before and no other one has now, as long as they are kept. */
export async function findFormerEmails(db: Db, email: string): Promise<string[]> {
  const rows = await db
    .selectFrom("email_changes")
    .innerJoin("accounts", "accounts.id", "email_changes.account_id")
    .select("from_email")
    .where("accounts.email", "=", email)
    .where("changed_at_ms", "is not", null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("accounts as holder").select("id").whereRef("holder.email", "=", "from_email"))),
    )
    .groupBy("from_email")
    .execute();
  return rows.map(({ from_email }) => from_email);
}

/**
 * Records that the button behind a link was pressed; the second of the two changes the email. If the new one has an account
 * by then, the request ends. Returns the account if its email has changed.
 */
export async function confirmEmailChange(
  db: Db,
  { id, side }: ChangeToken,
  nowMs: number,
): Promise<Mover | undefined> {
  const known = await findEmailChange(db, id);
  if (!known) return undefined;
  const mover = { id: known.account_id, email: known.from_email };
  const about = auditChange("email change confirmed", "mail link", mover);
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    await lockEmail(transaction, known.to_email);
    const locked = accountBy(transaction, "id", mover.id).select("email").forUpdate();
    const account = await locked.executeTakeFirst();
    const change = await findEmailChange(transaction, id);
    if (!change || !account || !isWaiting(change, nowMs)) return undefined;
    const column = `${side}_confirmed_at_ms` as const;
    if (change[column] === null) await update(transaction, id, { [column]: nowMs });
    const other = side === "to" ? change.from_confirmed_at_ms : change.to_confirmed_at_ms;
    if (other === null) return undefined;
    const taken = accountBy(transaction, "email", change.to_email).select("id");
    if (account.email !== change.from_email || (await hasRow(taken))) {
      await update(transaction, id, { until_ms: nowMs });
      return undefined;
    }
    await move(transaction, change, nowMs);
    return { id: mover.id, email: change.to_email };
  });
}

/** Gives the account its new email, and what is kept under the old one. Sessions stay, but no proof of before counts. */
async function move(transaction: Db, change: Change, nowMs: number): Promise<void> {
  const { id, account_id, from_email: from, to_email: email, asked_by } = change;
  await transaction.updateTable("accounts").set({ email }).where("id", "=", account_id).execute();
  const timeZone = await findTimeZone(transaction, "id", account_id);
  await update(transaction, id, { changed_at_ms: nowMs });
  const sessions = transaction.updateTable("local_sessions").set({ confirmed_at_ms: null });
  await sessions.where("account_id", "=", account_id).execute();
  await transaction.deleteFrom("sign_in_codes").where("email", "=", from).execute();
  await transaction.deleteFrom("sign_in_emails").where("email", "in", [from, email]).execute();
  await transaction.deleteFrom("waitlist").where("email", "=", from).execute();
  const invitations = transaction.updateTable("invitations").set({ email }).where("email", "=", from);
  await invitations.where("accepted_at_ms", "is not", null).execute();
  await transaction.updateTable("sign_in_mail_attempts").set({ email }).where("email", "=", from).execute();
  if (await isSuppressed(transaction, hashEmail(from)))
    await suppress(transaction, [hashEmail(email)], nowMs);
  const mail = {
    kind: "email changed",
    to: from,
    email,
    atMs: nowMs,
    timeZone,
    isByOperator: asked_by !== null,
  } as const;
  await enqueueMail(transaction, mail, { nowMs });
}

async function update(transaction: Db, id: string, to: Partial<Change>): Promise<void> {
  await transaction.updateTable("email_changes").set(to).where("id", "=", id).execute();
}

async function endRequests(transaction: Db, accountId: string, nowMs: number): Promise<void> {
  await transaction
    .updateTable("email_changes")
    .set({ until_ms: nowMs })
    .where("account_id", "=", accountId)
    .where("changed_at_ms", "is", null)
    .where("until_ms", ">", nowMs)
    .execute();
}

/** The audited state: the email of the account and the newest request. */
function auditChange(what: string, by: Actor, { id, email }: Mover) {
  const readState = async (transaction: Db) => {
    const account = await accountBy(transaction, "id", id).select("email").executeTakeFirst();
    const change = await transaction
      .selectFrom("email_changes")
      .select(["to_email", "until_ms", "from_confirmed_at_ms", "to_confirmed_at_ms"])
      .where("account_id", "=", id)
      .orderBy("asked_at_ms", "desc")
      .limit(1)
      .executeTakeFirst();
    return { ...account, ...change };
  };
  return { by, what, whom: email, readState };
}
