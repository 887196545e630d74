import { randomUUID } from "node:crypto";
import * as z from "zod";
import { type Account, accountStatuses } from "@/lib/accounts/account";
import { auditedAccount, emailTaken, openAccount, requireOffered } from "@/lib/accounts/accounts";
import type { AccountTerms } from "@/lib/accounts/terms/gift";
import { trialDaysOf, validateTerms } from "@/lib/accounts/terms/trial";
import { accountBy } from "@/lib/db/account-by";
import { type AuditedChange, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import {
  findInvitationProblem,
  type InvitationProblem,
  invitationMs,
} from "@/lib/mail/links/invitation-token";
import { hashSecret, mintSecret } from "@/lib/runtime/secret";

/** The terms of a row. SQLite checks no types. */
const invitedTerms = z.object({
  plan: z.enum(accountStatuses),
  given_plan: z.string().nullable(),
  trial_ends_at_ms: z.int().nullable(),
  trial_days: z.int().nullable(),
  assistant_limit: z.int().nullable(),
  credit_thousandths: z.int().nullable(),
});

const termColumns = invitedTerms.keyof().options;

/**
 * Creates an invitation in the caller's transaction, replacing any that this email has not accepted. Returns the token
 * of its link, which is not stored. Throws an {@link ApiError} when the email has an account or the terms contradict
 * each other.
 */
export async function invite(
  transaction: Db,
  email: string,
  terms: AccountTerms,
  nowMs: number,
): Promise<string> {
  validateTerms(terms);
  await requireOffered(transaction, terms.given_plan);
  const token = mintSecret();
  if (await accountBy(transaction, "email", email).select("id").executeTakeFirst()) throw emailTaken();
  const columns = { email, token_hash: hashSecret("invitation", token) };
  await writeInvitation(transaction, columns, terms, nowMs);
  return token;
}

/** Deletes an invitation that was not accepted yet. */
export async function withdrawInvitation(transaction: Db, email: string): Promise<void> {
  await transaction
    .deleteFrom("invitations")
    .where("email", "=", email)
    .where("accepted_at_ms", "is", null)
    .execute();
}

/** The audited state of an email's open invitation. */
export function auditedInvitation(email: string): Pick<AuditedChange, "whom" | "readState"> {
  return {
    whom: email,
    readState: (transaction) =>
      transaction
        .selectFrom("invitations")
        .select(["id", ...termColumns])
        .where("email", "=", email)
        .where("accepted_at_ms", "is", null)
        .executeTakeFirst(),
  };
}

/** Opens an account by an invitation's link, for the email it was sent to. Of two concurrent calls, one succeeds. */
export async function acceptInvitation(
  db: Db,
  { token, email, subject }: { token: string; email: string; subject: string },
  nowMs: number,
): Promise<Account | InvitationProblem | "foreign-email"> {
  const about = { by: "invitation", what: "account open", ...auditedAccount(email) } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const from = { email, tokenHash: hashSecret("invitation", token) };
    const terms = await consumeInvitation(transaction, from, nowMs);
    if (!terms) return (await findInvitationProblem(transaction, token, nowMs)) ?? "foreign-email";
    return openAccount(transaction, email, { ...terms, subject }, nowMs);
  });
}

/** The days of the trial that an invitation gives by its link; `undefined` if it gives none, or one with a date. */
export async function readInvitedDays(db: Db, token: string): Promise<number | undefined> {
  const row = await db
    .selectFrom("invitations")
    .select(termColumns)
    .where("token_hash", "=", hashSecret("invitation", token))
    .executeTakeFirst();
  return row && trialDaysOf(invitedTerms.parse(row));
}

/**
 * Marks an email's open invitation as accepted, in the caller's transaction, and returns its terms.
 *
 * @param from - `tokenHash` if a link is the credential, and not the email alone; `atMs` if it was used before we are told so,
 * perhaps after it has expired
 */
export async function consumeInvitation(
  transaction: Db,
  from: { email: string; tokenHash?: string; atMs?: number },
  nowMs: number,
): Promise<AccountTerms | undefined> {
  const { atMs = nowMs } = from;
  let taking = transaction
    .updateTable("invitations")
    .set({ accepted_at_ms: nowMs })
    .where("email", "=", from.email.toLowerCase())
    .where("accepted_at_ms", "is", null)
    .where(({ or, and, eb }) =>
      or([
        eb("expires_at_ms", ">", nowMs),
        and([eb("created_at_ms", "<=", atMs), eb("expires_at_ms", ">", atMs)]),
      ]),
    );
  if (from.tokenHash) taking = taking.where("token_hash", "=", from.tokenHash);
  const row = await taking.returning(termColumns).executeTakeFirst();
  return row && invitedTerms.parse(row);
}

/** Creates an account together with an invitation that is already accepted, in one transaction. */
export async function addAccount(
  db: Db,
  email: string,
  terms: AccountTerms,
  nowMs: number,
): Promise<Account> {
  const about = { by: "operator", what: "account add", ...auditedAccount(email) } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    await requireOffered(transaction, terms.given_plan);
    const account = await openAccount(transaction, email, terms, nowMs);
    const columns = { email: account.email, accepted_at_ms: nowMs };
    await writeInvitation(transaction, columns, terms, nowMs);
    return account;
  });
}

async function writeInvitation(
  transaction: Db,
  columns: { email: string; token_hash?: string; accepted_at_ms?: number },
  { plan = "trial", given_plan, ...terms }: AccountTerms,
  nowMs: number,
): Promise<void> {
  const { trial_ends_at_ms, trial_days, assistant_limit, credit_thousandths } = terms;
  await withdrawInvitation(transaction, columns.email);
  const waiting = transaction.updateTable("waitlist").where("email", "=", columns.email);
  await waiting.set({ invited_at_ms: nowMs, unconfirmed_until_ms: null }).execute();
  await transaction
    .insertInto("invitations")
    .values({
      id: randomUUID(),
      ...columns,
      plan,
      given_plan: plan === "licensed" ? given_plan : null,
      trial_ends_at_ms,
      trial_days,
      assistant_limit,
      credit_thousandths,
      created_at_ms: nowMs,
      expires_at_ms: nowMs + invitationMs,
    })
    .execute();
}
