import type { Stripe } from "stripe";
import { addPriceToPlan, settlePayers } from "@/lib/accounts/terms/plan-changes";
import { limitOf, readPrice } from "@/lib/billing/prices/prices";
import { idOf } from "@/lib/billing/stripe/calls";
import type { Db } from "@/lib/db/store";
import { limitIn, type Plan, readPlans } from "@/lib/plans/plan";
import { listPlanPrices, listSold, type PlanPrice, soldOf } from "@/lib/plans/plan-prices";

/** An item with its plan, unless it was sold before there were plans, and its limit of assistants, infinite without one. */
export type LicenceItem<Item> = Item & { plan: Plan | undefined; limit: number };

/**
 * The items of a subscription that are for a licence: for a price of a plan, for one that we sell, or another one of its
 * product, which get a plan by that. So a price that is no longer sold goes on being a licence for who pays it.
 */
export async function assignPlans<Item extends Pick<Stripe.SubscriptionItem, "price">>(
  db: Db,
  items: Item[],
  nowMs: number,
): Promise<LicenceItem<Item>[]> {
  const former = await db
    .selectFrom("billing_licence_prices")
    .select(["id", "assistant_limit"])
    .where("plan", "is", null)
    .execute();
  let prices = await listPlanPrices(db, await readPlans(db));
  const planOf = (id: string) => prices.find((price) => price.id === id)?.plan;
  const found: LicenceItem<Item>[] = [];
  for (const item of items) {
    const { price } = item;
    const sold = planOf(price.id) ? "nowhere" : await findWhereSold(price, prices, nowMs);
    if (sold !== "nowhere") {
      await makePlan(db, price.id, sold, nowMs);
      prices = await listPlanPrices(db, await readPlans(db));
    }
    const plan = planOf(price.id);
    const known = former.find(({ id }) => id === price.id);
    if (plan) found.push({ ...item, plan, limit: limitIn(plan, "assistants") });
    else if (known) found.push({ ...item, plan, limit: known.assistant_limit ?? Number.POSITIVE_INFINITY });
  }
  return found;
}

/** The limit of assistants of several items, or several of one; null if it is the plan's, and for none. */
export function limitOfItems(items: LicenceItem<{ quantity?: number }>[]): number | null {
  const [first, another] = items;
  if (first?.plan && !another && (first.quantity ?? 1) === 1) return null;
  const sum = items.reduce((all, { limit, quantity = 1 }) => all + limit * quantity, 0);
  return Number.isSafeInteger(sum) ? sum : null;
}

/** Makes plans of the prices in STRIPE_LICENCE_PRICES that none has yet, and gives who pays a price the plan that it buys. */
export async function makePlansOfSettings(db: Db, nowMs: number): Promise<void> {
  for (const { id, plan } of await listSold(db)) if (!plan) await makePlan(db, id, "here", nowMs);
  await settlePayers(db, nowMs);
}

/** Puts a price into the plan of its product, or into a new one with what Stripe says of it. */
async function makePlan(db: Db, id: string, sold: "here" | "elsewhere", nowMs: number) {
  const price = await readPrice(id, nowMs);
  if (!price) return;
  const { product, nickname, metadata } = price;
  const name = typeof product === "object" && !product.deleted ? product.name : undefined;
  const titles = [name, nickname].flatMap((title) => title || []);
  const limit = limitOf(metadata);
  await addPriceToPlan(db, { id, titles, limit, isSold: sold === "here" }, nowMs);
}

/** Where a price that belongs to no plan is sold: elsewhere, if it is another price of its product that is sold here. */
async function findWhereSold(price: Stripe.Price, prices: PlanPrice[], nowMs: number) {
  const sold = soldOf(prices);
  if (sold.some(({ id }) => id === price.id)) return "here";
  const read = await Promise.all(sold.map(({ id }) => readPrice(id, nowMs)));
  return read.some((other) => other && idOf(other.product) === idOf(price.product)) ? "elsewhere" : "nowhere";
}
