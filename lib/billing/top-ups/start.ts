import { writeLimits } from "@/lib/accounts/credits/credit-limits";
import type { Owner } from "@/lib/accounts/require-owner";
import { describeSale } from "@/lib/billing/checkout";
import { findCard } from "@/lib/billing/customer/card";
import { auditedPurchase } from "@/lib/billing/top-ups/automatic-purchase";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

/** What turns it on. Amounts are in thousandths; `most` is how many packs a month may be bought. */
type Wanted = { price: string; below: number | null; most: string };

/**
 * Turns automatic purchases on. Throws an {@link ApiError} if that is not sold to the account, if no ceiling is set, or if
 * the pack would not lift the credits above the threshold, so that one purchase would cause the next.
 *
 * @returns whether there is a card to charge; without one it stays as it was
 */
export async function startAutomaticPurchase(
  db: Db,
  { account, by }: Owner,
  { price, below, most }: Wanted,
  nowMs: number,
): Promise<boolean> {
  const { thousandths } = await describeSale(db, account, { kind: "credits", priceId: price }, nowMs);
  if (most.trim() === "") throw new ApiError("limit_required");
  const top_up_most = /^[1-9]\d{0,2}$/.test(most.trim()) ? Number(most) : undefined;
  if (!top_up_most || !below || below > thousandths) {
    throw new ApiError("limit_failed", {
      hint: `Buy from 1 to 999 times a month, when fewer are left than a number up to ${thousandths / 1000}, which is the pack.`,
    });
  }
  if (!(await findCard(db, account.id))) return false;
  const set = { top_up_price: price, top_up_below_thousandths: below, top_up_most };
  await auditedTransaction(db, auditedPurchase(account, by), nowMs, (transaction) =>
    writeLimits(transaction, account.id, { ...set, top_up_due_ms: null, top_up_stopped: null }, nowMs),
  );
  return true;
}
