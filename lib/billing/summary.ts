import type { Db } from "@/lib/db/store";

/** The purchases of an account, as we last read them at Stripe. */
export type BillingSummary = {
  /** The current licence from Stripe, and when it ends if it was cancelled. */
  licence: { isPastDue: boolean; periodEndsMs: number; endsMs: number | null } | undefined;
  hasBought: boolean;
};

/** Reads the purchases of an account. */
export async function readBilling(db: Db, accountId: string): Promise<BillingSummary> {
  const subscription = await db
    .selectFrom("billing_subscriptions")
    .select(["status", "period_ends_ms", "ends_at_ms", "licence_until_ms"])
    .where("account_id", "=", accountId)
    .orderBy("licence_until_ms", "desc")
    .executeTakeFirst();
  const paid = await db
    .selectFrom("billing_checkouts")
    .select("id")
    .where("account_id", "=", accountId)
    .where("state", "=", "fulfilled")
    .executeTakeFirst();
  return {
    licence:
      subscription && subscription.licence_until_ms > 0
        ? {
            isPastDue: subscription.status === "past_due",
            periodEndsMs: subscription.period_ends_ms,
            endsMs: subscription.ends_at_ms,
          }
        : undefined,
    hasBought: subscription !== undefined || paid !== undefined,
  };
}
