import { randomBytes } from "node:crypto";
import { type ExpressionBuilder, sql } from "kysely";
import { type Account, type AccountStatus, accountStatuses, parseAccount } from "@/lib/accounts/account";
import { accountAt, auditedColumns } from "@/lib/accounts/account-columns";
import { selectLedger, spendable, toCredits, writeCreditEntry } from "@/lib/accounts/credits/ledger";
import { giveMissedCredits, givePlanCredits } from "@/lib/accounts/credits/plan-credits";
import { writeReference } from "@/lib/accounts/reference";
import { settleTerms } from "@/lib/accounts/terms/effective-terms";
import { type AccountTerms, changeGift, newTerms } from "@/lib/accounts/terms/gift";
import { validateTerms } from "@/lib/accounts/terms/trial";
import { parseTypedEmail } from "@/lib/config/email-address";
import { accountBy } from "@/lib/db/account-by";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import { isPostgres } from "@/lib/db/event-triggers";
import { hasRow } from "@/lib/db/has-row";
import { paginate } from "@/lib/db/pagination";
import { isSomeones } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { scheduleOnboarding } from "@/lib/mail/outbox/onboarding-outbox";
import { accountsOwing } from "@/lib/plans/licence-state";
import { readPlans } from "@/lib/plans/plan";
import { findCustomer } from "@/lib/plans/purchases";
import { endColumns, type Gift, givenTerms, rowAt } from "@/lib/plans/terms";

/** Creates an account with its ledger and onboarding mails. Throws an {@link ApiError} if its email or subject is taken. */
export async function openAccount(
  transaction: Db,
  email: string,
  terms: AccountTerms,
  nowMs: number,
): Promise<Account> {
  validateTerms(terms);
  await requireUnusedSubject(transaction, terms.subject);
  const { credit_thousandths, subject = null } = terms;
  const { given, end } = changeGift({ given: newTerms(terms, nowMs) }, terms, nowMs);
  const id = `acc_${randomBytes(16).toString("base64url")}`;
  const inserting = transaction
    .insertInto("accounts")
    .values({
      id,
      email: email.toLowerCase(),
      subject,
      ...given,
      ...endColumns(end, end?.given),
      credit_thousandths: 0,
      held_thousandths: 0,
      created_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.column("email").doNothing());
  if (!(await hasRow(inserting.returning("id")))) throw emailTaken();
  if (credit_thousandths) {
    const entry = { account_id: id, thousandths: credit_thousandths, reason: "given with the account" };
    await writeCreditEntry(transaction, entry, nowMs);
  }
  await givePlanCredits(transaction, { accountId: id, plans: await readPlans(transaction) }, nowMs);
  await scheduleOnboarding(transaction, { accountId: id, email }, nowMs);
  return findAccount(transaction, email);
}

/** The error for an email that already has an account. */
export function emailTaken(): ApiError {
  return new ApiError("invalid_request", {
    message: "There is already an account with this email.",
    hint: "Change it with 'account set'.",
  });
}

/** Who changes something, and what throws if it is no longer as they saw it. */
type Act<Seen> = { by?: Operator; requireSame?: (current: Seen) => void };

/**
 * Changes what an operator gives an account, in one transaction; next to a licence from Stripe it has the better of the
 * two. Throws an {@link ApiError} as {@link openAccount} does.
 */
export async function setAccount(
  db: Db,
  email: string,
  { by = "operator", requireSame, ...terms }: AccountTerms & Act<Gift>,
  nowMs: number,
): Promise<Account> {
  const { whom, readState } = auditedAccount(email);
  // Next to a licence, the account may stay as it is.
  const readBoth = async (transaction: Db) => {
    const row = await readState(transaction);
    const customer = row && (await findCustomer(transaction, row.id));
    return row && customer?.licence ? { ...row, given: givenTerms(rowAt(row, nowMs), customer) } : row;
  };
  const about = { by, what: "account set", whom, readState: readBoth } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const account = await findAccount(transaction, email, nowMs);
    if (terms.subject !== account.subject) await requireUnusedSubject(transaction, terms.subject);
    if (terms.given_plan !== account.given_plan) await requireOffered(transaction, terms.given_plan);
    await giveMissedCredits(transaction, account, nowMs, nowMs);
    await settleTerms(transaction, account, nowMs, (gift) => {
      requireSame?.(gift);
      return changeGift(gift, terms, nowMs);
    });
    if (terms.reference !== undefined)
      await writeReference(transaction, account.id, terms.reference, referenceTaken);
    const { subject } = terms;
    if (subject)
      await transaction.updateTable("accounts").set({ subject }).where("id", "=", account.id).execute();
    // The plan may have given some just now.
    const balance = spendable(await findAccount(transaction, email, nowMs));
    const difference = (terms.credit_thousandths ?? balance) - balance;
    if (difference !== 0) {
      const entry = { account_id: account.id, thousandths: difference, reason: "set by the operator" };
      await writeCreditEntry(transaction, entry, nowMs);
    }
    return findAccount(transaction, email, nowMs);
  });
}

/**
 * Adds an amount to an account's balance, or takes it away. Throws an {@link ApiError} if there is no such account, its
 * balance would leave its bounds, or the ledger has an entry with this id, and {@link AddedBefore}.
 *
 * @param id - of the new entry, so that what is sent twice counts once
 * @param newForMs - refuses an amount that was added for the same reason so lately
 * @returns what the account can spend then, in thousandths
 */
export async function addCredits(
  db: Db,
  email: string,
  {
    thousandths,
    reason,
    by = "operator",
    id,
    newForMs,
  }: { thousandths: number; reason: string; by?: Operator; id?: string; newForMs?: number | undefined },
  nowMs: number,
): Promise<number> {
  const { whom, readState } = auditedAccount(email);
  const about = { by, what: "credits add", whom, readState, facts: { reason } };
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const account = await findAccount(transaction, email, nowMs);
    const entries = transaction.selectFrom("credit_entries").select("id");
    if (id && (await hasRow(entries.where("id", "=", id)))) {
      throw new ApiError("forbidden", {
        status: 409,
        message: `This was done before. The balance is now ${toCredits(spendable(account))}.`,
        hint: "What you typed is still in the form. Send it again if it should be done once more.",
      });
    }
    const entry = { account_id: account.id, thousandths, reason, ...(id && { id }) };
    if (newForMs !== undefined) {
      const twin = await selectLedger(transaction, account.id, "<")
        .where("created_at_ms", ">", nowMs - newForMs)
        .where("thousandths", "=", thousandths)
        .where("reason", "=", reason)
        .executeTakeFirst();
      if (twin) throw new AddedBefore(twin.created_at_ms);
    }
    return writeCreditEntry(transaction, entry, nowMs);
  });
}

/** The same amount was added for the same reason a short time ago: perhaps by a command that was not answered. */
export class AddedBefore extends Error {
  constructor(readonly atMs: number) {
    super("The same credits were added before");
  }
}

/** The audited state of an account. Reading it locks the row against concurrent changes. */
export function auditedAccount(email: string) {
  const whom = email.toLowerCase();
  return {
    whom,
    readState: (transaction: Db) =>
      accountBy(transaction, "email", whom).select(auditedColumns).forUpdate().executeTakeFirst(),
  };
}

/** Finds the account with this email, in any letter case. Throws an {@link ApiError} if there is none. */
export async function findAccount(db: Db, email: string, nowMs = Date.now()): Promise<Account> {
  const row = await accountBy(db, "email", email.toLowerCase()).select(accountAt(nowMs)).executeTakeFirst();
  if (!row) {
    const invitations = db.selectFrom("invitations").select("id").where("accepted_at_ms", "is", null);
    const isInvited = await hasRow(
      invitations.where("email", "=", email.toLowerCase()).where("expires_at_ms", ">", nowMs),
    );
    throw new ApiError("not_found", {
      message: "There is no account with this email.",
      hint: isInvited
        ? "They were invited, and have not accepted: 'invite' again says what they will have."
        : "See 'account list', or add one with 'account add'.",
    });
  }
  const account = parseAccount(row, nowMs);
  if (account) return account;
  throw new ApiError("internal_error", {
    message: "The record of this account is not valid.",
    hint: "Delete it with 'account delete' and add it again.",
  });
}

const referenceTaken = () =>
  new ApiError("invalid_request", {
    message: "Another account has this reference.",
    hint: "Take it from that account first, with --reference none.",
  });

/** The states of accounts that can be asked for: the statuses of their entitlement. */
export const accountStates = ["licensed", "trial", "trial-ended", "hobby"] as const;
export type AccountState = (typeof accountStates)[number];

/** The condition that an account is in a state at `nowMs`. */
export function isInState(state: AccountState, nowMs: number) {
  return ({ eb, and }: ExpressionBuilder<Tables, "accounts">) =>
    state === "trial" || state === "trial-ended"
      ? and([eb("plan", "=", "trial"), eb("trial_ends_at_ms", state === "trial" ? ">" : "<=", nowMs)])
      : eb("plan", "=", state);
}

const isStatus = (plan: string) => accountStatuses.some((status) => status === plan);

/** The condition that an account has a plan; `licensed` is every licence. */
export function isOnPlan(plan: string) {
  return ({ eb, and }: ExpressionBuilder<Tables, "accounts">) =>
    // Every licence has the status, whose index the embedded store reads in the order of a list.
    isStatus(plan) ? eb("plan", "=", plan) : and([eb("plan", "=", "licensed"), hasLicence(plan)]);
}

/** The query of the accounts that have a plan, no more than so many and in no order, in indexes of the plans alone. */
export function someOnPlan(db: Db, plan: string, most: number) {
  const isOn = isStatus(plan) ? isOnPlan(plan) : hasLicence(plan);
  return db.selectFrom("accounts").select("id").where(isOn).limit(most);
}

const hasLicence = (plan: string) => sql<boolean>`(given_plan = ${plan} or paid_plan = ${plan})`;

export type AccountFilter = {
  plan?: string | undefined;
  state?: AccountState | undefined;
  /** Only those that owe a payment at Stripe. */
  isOwing?: boolean;
  containing?: string | undefined;
  /** The email after which it goes on: the order is that of emails. */
  after?: string | undefined;
  /** The last email that counts. */
  until?: string | undefined;
};

/** The query of the accounts in the order of their emails' bytes. */
export function selectAccounts(db: Db, { plan, state, isOwing, containing, after, until }: AccountFilter) {
  const email = isPostgres(db) ? sql<string>`email collate "C"` : sql<string>`email`;
  let query = db.selectFrom("accounts").select(accountAt(Date.now())).where(isSomeones).orderBy(email);
  if (plan) query = query.where(isOnPlan(plan));
  if (state) query = query.where(isInState(state, Date.now()));
  if (isOwing) query = query.where("id", "in", accountsOwing(db));
  if (until) query = query.where(email, "<=", until);
  if (containing) query = query.where(contains("email", containing));
  return after ? query.where(email, ">", after.toLowerCase()) : query;
}

/**
 * The condition that a text contains another one, in any letter case. Emails are stored in lower case; a whole one may be
 * sought as a mail program copies it, with the name beside it.
 */
export function contains(column: "email" | "reference", text: string) {
  const isEmail = column === "email";
  const sought = ((isEmail && parseTypedEmail(text)) || text.toLowerCase()).replace(/[\\%_]/g, "\\$&");
  return sql<boolean>`${isEmail ? sql.ref(column) : sql`lower(${sql.ref(column)})`} like ${`%${sought}%`} escape '\\'`;
}

/** Lists the accounts page by page. A record that does not parse has its email alone. */
export async function* listAccounts(db: Db, filter: AccountFilter = {}, maxRows?: number) {
  const rows = paginate<Tables["accounts"]>(
    (last, limit) =>
      selectAccounts(db, { ...filter, after: last?.email ?? filter.after })
        .limit(limit)
        .execute(),
    maxRows,
  );
  for await (const page of rows)
    yield page.map((row) => ({ email: row.email, account: parseAccount(row, Date.now()) }));
}

/** Deletes an account and all that is its own, except its suppression. Throws an {@link ApiError} if there is none. */
export async function deleteAccount(db: Db, email: string, by: Operator, nowMs: number): Promise<void> {
  const about = { by, what: "account delete", ...auditedAccount(email) } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const deletion = transaction.deleteFrom("accounts").where("email", "=", email.toLowerCase());
    if (!(await hasRow(deletion.returning("id")))) await findAccount(transaction, email);
  });
}

/** The terms of a plan by its name: of what an account can be, or of a licence. */
export function termsOfPlan(name: string): { plan: AccountStatus; given_plan: string | null } {
  const status = accountStatuses.find((status) => status === name);
  if (status && status !== "licensed") return { plan: status, given_plan: null };
  return { plan: "licensed", given_plan: name };
}

/** Throws an {@link ApiError} for a plan that is not given to anyone new. */
export async function requireOffered(transaction: Db, name: string | null | undefined): Promise<void> {
  if (!name) return;
  const plan = (await readPlans(transaction)).get(name);
  if (plan?.retired_at_ms === null) return;
  throw new ApiError("invalid_request", {
    message: plan ? `The plan ${name} is not offered any more.` : `There is no plan ${name}.`,
    hint: "See 'plan list'.",
  });
}

async function requireUnusedSubject(transaction: Db, subject: string | undefined): Promise<void> {
  if (!subject) return;
  if (!(await accountBy(transaction, "subject", subject).select("id").executeTakeFirst())) return;
  throw new ApiError("invalid_request", {
    message: "There is already an account with this subject.",
    hint: "Find it with 'account list'.",
  });
}
