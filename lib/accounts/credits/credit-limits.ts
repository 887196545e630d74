import { monthOf, spentInMonth } from "@/lib/accounts/credits/credit-watch";
import { parseThousandths, spendable, toCredits } from "@/lib/accounts/credits/ledger";
import type { Owner } from "@/lib/accounts/require-owner";
import { asIso } from "@/lib/config/instants";
import { accountBy, lockAccount } from "@/lib/db/account-by";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";

/* What an owner sets for their credits: how much backends may spend in a month, and below what balance a mail tells. */

type Row = Tables["credit_limits"];

const wishes = ["monthly_thousandths", "mail_below_thousandths"] as const;
type Wishes = Record<(typeof wishes)[number], number | null>;

const selectLimits = (db: Db, accountId: string) =>
  db.selectFrom("credit_limits").where("account_id", "=", accountId);

/** What an owner has set, with what backends have spent this month (UTC); `undefined` if they never have. */
export async function readCreditLimits(db: Db, accountId: string, nowMs: number) {
  const row = await selectLimits(db, accountId).selectAll().executeTakeFirst();
  return row && { ...row, ...spentInMonth(row, nowMs) };
}

/** A change of these columns, for the audit. Reading them locks the account, as all do that spend. */
export function auditedLimits<Column extends keyof Row>(
  { id, email }: { id: string; email: string },
  { columns, ...about }: { columns: readonly Column[]; by: Actor; what: string },
) {
  const readState = async (transaction: Db) => {
    await lockAccount(transaction, id);
    return selectLimits(transaction, id).select(columns).executeTakeFirst();
  };
  return { ...about, whom: email, readState };
}

/** Sets what a locked account has of limits, and of the others nothing if it has none. Its first ones count all of this month. */
export async function writeLimits(
  transaction: Db,
  account_id: string,
  set: Partial<Row>,
  nowMs: number,
): Promise<void> {
  const known = transaction.updateTable("credit_limits").set(set).where("account_id", "=", account_id);
  if (await hasRow(known.returning("account_id"))) return;
  const counted = await countMonth(transaction, account_id, nowMs);
  await transaction
    .insertInto("credit_limits")
    .values({ account_id, ...counted, ...set })
    .execute();
}

/** Sets what an owner wants. Credits that are few already are told by no mail. */
export async function setCreditLimits(
  db: Db,
  { account: owner, by }: Pick<Owner, "account" | "by">,
  wanted: Wishes,
  nowMs: number,
): Promise<void> {
  const { id } = owner;
  const about = auditedLimits(owner, { by, what: "credit limits", columns: wishes });
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const balance = ["credit_thousandths", "held_thousandths"] as const;
    const account = await accountBy(transaction, "id", id).select(balance).executeTakeFirst();
    if (!account) throw new ApiError("forbidden");
    const known = await selectLimits(transaction, id).select("low_since_ms").executeTakeFirst();
    const below = wanted.mail_below_thousandths;
    const isLow = below !== null && spendable(account) < below;
    const low_since_ms = isLow ? (known?.low_since_ms ?? nowMs) : null;
    await writeLimits(transaction, id, { ...wanted, low_since_ms }, nowMs);
  });
}

/** Counts what backends have spent this month, for an account's first limits. From then on each spend counts itself. */
async function countMonth(transaction: Db, accountId: string, nowMs: number) {
  const month_ms = monthOf(nowMs);
  const { spent, reversed } = await transaction
    .selectFrom("credit_entries")
    .select(({ fn }) => [
      fn.sum<number | null>("thousandths").as("spent"),
      fn.sum<number | null>("reversed_thousandths").as("reversed"),
    ])
    .where("account_id", "=", accountId)
    .where("backend_id", "is not", null)
    .where("thousandths", "<", 0)
    .where("created_at_ms", ">=", month_ms)
    .executeTakeFirstOrThrow();
  return { month_ms, spent_thousandths: -Number(spent) - Number(reversed) };
}

/**
 * Parses an amount of credits that an owner typed, also with the full-width digits of some keyboards, and the comma that is the
 * only mark of others; null if it is empty. Three digits after a mark are refused: `1.000` is one, or a thousand.
 */
export function parseLimit(typed: string): number | null {
  const text = typed.normalize("NFKC").trim();
  if (text === "") return null;
  const thousandths = /[.,]\d{3}/.test(text) ? undefined : parseThousandths(text.replace(",", "."));
  if (thousandths === undefined || thousandths < 0) throw new ApiError("limit_failed");
  return thousandths;
}

/** What an owner has set, for an export. */
export async function exportCreditLimits(db: Db, accountId: string, nowMs: number) {
  const limits = await readCreditLimits(db, accountId, nowMs);
  if (!limits) return null;
  const inCredits = (thousandths: number | null) => (thousandths === null ? null : toCredits(thousandths));
  return {
    monthly: inCredits(limits.monthly_thousandths),
    spentThisMonth: toCredits(limits.spent_thousandths),
    mailBelow: inCredits(limits.mail_below_thousandths),
    lowSince: asIso(limits.low_since_ms),
    automaticPurchase: {
      price: limits.top_up_price,
      below: inCredits(limits.top_up_below_thousandths),
      most: limits.top_up_most,
      dueAt: asIso(limits.top_up_due_ms),
      stopped: limits.top_up_stopped,
    },
  };
}
