import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import { requireBilling } from "@/lib/http/checks/billing";
import { type Plan, type Plans, readPlans } from "@/lib/plans/plan";

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

/** A price that is sold as a licence; without its plan until that was made of a price in the settings. */
export type SoldPrice = { id: string; plan: Plan | undefined };

/** The prices that are sold as licences: those of plans, and those in STRIPE_LICENCE_PRICES that no plan has yet. */
export async function listSold(db: Db, plans?: Plans): Promise<SoldPrice[]> {
  return soldOf(await listPlanPrices(db, plans ?? (await readPlans(db))));
}

/** Whether any plan is sold here, as far as the store and the settings say so. */
export async function sellsAnyPlan(db: Db): Promise<boolean> {
  return settings().billing !== undefined && (await listSold(db)).length > 0;
}

/** Those of the prices of plans that are sold, and those in the settings that no plan has yet. */
export function soldOf(prices: PlanPrice[]): SoldPrice[] {
  const isNew = (id: string) => prices.every((price) => price.id !== id);
  const listed = requireBilling().licencePrices.filter(isNew);
  return [...prices.filter(({ isSold }) => isSold), ...listed.map((id) => ({ id, plan: undefined }))];
}
