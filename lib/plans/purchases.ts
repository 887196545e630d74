import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { planBefore } from "@/lib/plans/licence-state";

/** How long Stripe goes unread before the store may be behind it: some rounds were missed, or the store was restored. */
export const behindAfterMs = 30 * 60 * 1000; // 30 minutes

/** Whether what accounts paid for at Stripe may have changed since it was last read. */
export function isStripeUnread(db: Db, nowMs: number): Promise<boolean> {
  const progress = db.selectFrom("billing_progress").select("through_ms");
  return hasRow(progress.where("through_ms", "<=", nowMs - behindAfterMs));
}

/** The customer at Stripe of an account, by our id of the account. */
export function findCustomer(db: Db, accountId: string): Promise<Tables["billing_customers"] | undefined> {
  const customers = db.selectFrom("billing_customers").selectAll();
  return customers.where("account_id", "=", accountId).executeTakeFirst();
}

/** The purchases of an account, as last read at Stripe. `latestPack` is the checkout of credits that it began last. */
export async function readBilling(db: Db, accountId: string) {
  const subscriptions = await db
    .selectFrom("billing_subscriptions")
    .selectAll()
    .select(planBefore)
    .where("account_id", "=", accountId)
    .orderBy("created_at_ms", "desc")
    .execute();
  const customer = await findCustomer(db, accountId);
  const checkouts = db.selectFrom("billing_checkouts").where("account_id", "=", accountId);
  const hasPaid = await hasRow(checkouts.select("id").where("state", "=", "fulfilled"));
  const latestPack = await checkouts
    .select(["state", "thousandths"])
    .where("kind", "=", "credits")
    .where("session_id", "is not", null)
    .orderBy("created_at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  const read = await checkouts.select(({ fn }) => fn.max("last_event_at_ms").as("atMs")).executeTakeFirst();
  return {
    subscriptions,
    latestPack,
    hasBought: subscriptions.length > 0 || hasPaid,
    customerId: customer?.customer_id,
    readAtMs: Math.max(
      read?.atMs ?? 0,
      ...subscriptions.map(({ last_event_at_ms }) => last_event_at_ms ?? 0),
    ),
  };
}
