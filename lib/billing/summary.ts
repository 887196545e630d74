import type { Db } from "@/lib/db/store";

/** What an account has bought, as we last read it at Stripe. */
export type BillingSummary = {
  /** The current licence; undefined if there is none from Stripe. */
  licence: { isPastDue: boolean; periodEndsMs: number; endsMs: number | undefined } | undefined;
  hasBought: boolean;
};

/** Reads what an account has bought. */
export async function readBilling(db: Db, accountId: string): Promise<BillingSummary> {
  const subscriptions = await db
    .selectFrom("billing_subscriptions")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("licence_until_ms", "desc")
    .orderBy("period_ends_ms", "desc")
    .execute();
  const bought = await db
    .selectFrom("billing_checkouts")
    .select("id")
    .where("account_id", "=", accountId)
    .where("state", "=", "fulfilled")
    .limit(1)
    .executeTakeFirst();
  const [newest] = subscriptions;
  const isOver = newest?.status === "canceled" || newest?.status === "unpaid" || newest?.status === "paused";
  return {
    licence:
      newest && newest.licence_until_ms > 0
        ? {
            isPastDue: newest.status === "past_due",
            periodEndsMs: newest.period_ends_ms,
            endsMs: isOver ? newest.licence_until_ms : (newest.ends_at_ms ?? undefined),
          }
        : undefined,
    hasBought: bought !== undefined || newest !== undefined,
  };
}
