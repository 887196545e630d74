import { hourMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { enqueueMail } from "@/lib/mail/outbox/outbox";

/* How an owner's limits are kept in the transactions that change a balance, which have locked the account. */

type Row = Tables["credit_limits"];

/** The limits of an account; all null if its owner has set none. */
export type LimitState = { [Name in (typeof limitColumns)[number]]: Row[Name] | null };

export const limitColumns = [
  "monthly_thousandths",
  "month_ms",
  "spent_thousandths",
  "mail_below_thousandths",
  "low_since_ms",
  "top_up_below_thousandths",
  "top_up_due_ms",
] as const satisfies (keyof Row)[];

/** The first instant of a month by UTC, in Unix milliseconds: of the month of `atMs`, or so many later. */
export function monthOf(atMs: number, later = 0): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
}

/** What backends have spent in the month of `atMs`, or in the month that was counted last if the clock went back. */
export function spentInMonth({ month_ms, spent_thousandths }: LimitState, atMs: number) {
  const month = Math.max(monthOf(atMs), month_ms ?? 0);
  return { month_ms: month, spent_thousandths: month === month_ms ? (spent_thousandths ?? 0) : 0 };
}

/**
 * Whether a balance has fallen below what its owner wants to hear of: once, until there are as many credits again. A rise
 * that gives none counts only an hour after the mail, because work near the threshold that holds and settles would cross
 * it with each piece.
 */
export function watchBalance(
  state: Pick<LimitState, "mail_below_thousandths" | "low_since_ms">,
  balance: number,
  isGiven: boolean,
  nowMs: number,
): { low_since_ms: number | null; hasFallen: boolean } {
  const { mail_below_thousandths: below, low_since_ms: since } = state;
  if (below === null) return { low_since_ms: null, hasFallen: false };
  if (balance < below) return { low_since_ms: since ?? nowMs, hasFallen: since === null };
  const isForgotten = since === null || isGiven || nowMs - since >= hourMs;
  return { low_since_ms: isForgotten ? null : since, hasFallen: false };
}

/** Notes that the balance of an account has changed, and queues the mail if it has fallen. */
export async function noteBalance(
  transaction: Db,
  account_id: string,
  { before, after }: { before: number; after: number },
  nowMs: number,
): Promise<void> {
  const limits = () => transaction.selectFrom("credit_limits").where("account_id", "=", account_id);
  const row = await limits()
    .select(["mail_below_thousandths", "low_since_ms"])
    .where("mail_below_thousandths", "is not", null)
    .executeTakeFirst();
  if (!row) return;
  // Holds may have expired since the last change.
  const at = watchBalance(row, before, false, nowMs);
  const { low_since_ms, hasFallen } = watchBalance({ ...row, ...at }, after, after > before, nowMs);
  if (low_since_ms !== row.low_since_ms)
    await transaction
      .updateTable("credit_limits")
      .set({ low_since_ms })
      .where("account_id", "=", account_id)
      .execute();
  const low = { accountId: account_id, below: row.mail_below_thousandths, left: after };
  if (at.hasFallen || hasFallen) await mailLowCredits(transaction, low, nowMs);
}

/** Queues the mail about a balance that has fallen, in the transaction in which it did. */
export async function mailLowCredits(
  transaction: Db,
  low: { accountId: string; below: number | null; left: number },
  nowMs: number,
): Promise<void> {
  const mail = { kind: "low credits", ...low, below: low.below ?? 0, atMs: nowMs } as const;
  await enqueueMail(transaction, mail, { nowMs });
}
