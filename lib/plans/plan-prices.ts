import type { Db } from "@/lib/db/store";
import type { Plan, Plans } from "@/lib/plans/plan";

/** A price at Stripe that buys a plan, or bought it once: `isSold` says whether anyone can buy it now. */
export type PlanPrice = { id: string; plan: Plan; isSold: boolean };

/** The plan that a price buys, or bought once. */
export const planOfPrice = (prices: PlanPrice[], id: string | null) =>
  prices.find((price) => price.id === id)?.plan;

/** The subscriptions of an account, each with the plan of its price; null for one that was sold before there were plans. */
export const listPlanSubscriptions = (db: Db, accountId: string) =>
  db
    .selectFrom("billing_subscriptions as subscription")
    .leftJoin("billing_licence_prices as price", "price.id", "subscription.price_id")
    .selectAll("subscription")
    .select("price.plan")
    .where("account_id", "=", accountId)
    .execute();

/** The prices of all plans, in the order of the plans and of each one's own. */
export async function listPlanPrices(db: Db, plans: Plans): Promise<PlanPrice[]> {
  const rows = await db
    .selectFrom("billing_licence_prices")
    .select(["id", "plan", "withdrawn_at_ms"])
    .where("plan", "is not", null)
    .orderBy("place")
    .orderBy("id")
    .execute();
  return [...plans.values()].flatMap((plan) =>
    rows
      .filter((row) => row.plan === plan.name)
      .map(({ id, withdrawn_at_ms }) => ({
        id,
        plan,
        isSold: withdrawn_at_ms === null && plan.retired_at_ms === null,
      })),
  );
}
