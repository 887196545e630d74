import type { Stripe } from "stripe";
import type { Account } from "@/lib/accounts/account";
import { openPortal } from "@/lib/billing/customer/customer";
import { type NextPayment, toPayment } from "@/lib/billing/prices/next-payment";
import { readPrice } from "@/lib/billing/prices/prices";
import { callStripe } from "@/lib/billing/stripe/calls";
import { KeptReadings, readForPage } from "@/lib/billing/stripe/kept-readings";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { perProcess } from "@/lib/per-process";
import { currentLicence, licenceStateOf, liveOf } from "@/lib/plans/licence-state";
import { listSold, type SoldPrice } from "@/lib/plans/plan-prices";
import { readBilling } from "@/lib/plans/purchases";

const portalKeptMs = 10 * 60 * 1000; // 10 minutes
const costKeptMs = 60 * 1000; // 1 minute: what is left of a period becomes less

type Row = Tables["billing_subscriptions"];
type Portal = Stripe.BillingPortal.Configuration.Features.SubscriptionUpdate;

/**
 * What a change costs: a payment at once, or the next one, or the change waits for the end of the period. The payment is what
 * is `charged` until a day, less what is `credited`, with `addedTax`, discounts and what the customer has at Stripe.
 */
export type ChangeCost =
  | ({ at: "once" | "next payment"; payment: NextPayment } & ReturnType<typeof partsOf>)
  | { at: "period end"; atMs: number };

const portals = perProcess("portal", () => new KeptReadings<Portal | undefined>(portalKeptMs));
const costs = perProcess("costs of changes", () => new KeptReadings<ChangeCost>(costKeptMs));

/** What owners may change in Stripe's portal: `undefined` if they may not take another price there. */
function readPortal(nowMs: number): Promise<Portal | undefined> {
  return portals().read("portal", nowMs, async () => {
    const expand = ["data.features.subscription_update.products"];
    const { data } = await callStripe((stripe) =>
      stripe.billingPortal.configurations.list({ active: true, is_default: true, limit: 1, expand }),
    );
    const update = data[0]?.features?.subscription_update;
    return update?.enabled && update.default_allowed_updates.includes("price") ? update : undefined;
  });
}

/** The subscription whose price its owner may change: one that renews, next to no other. */
export function findChangeable(subscriptions: Row[]): Row | undefined {
  const licence = currentLicence(subscriptions);
  return licence && licenceStateOf(licence) === "renews" && liveOf(subscriptions).length === 1
    ? licence
    : undefined;
}

/** The prices that we sell and Stripe's portal lets a licence change to, in its currency; none if Stripe is late. */
export async function readChanges(
  { price_id, currency }: Row,
  sold: SoldPrice[],
  nowMs: number,
): Promise<SoldPrice[]> {
  const portal = await readForPage(readPortal(nowMs));
  const allowed = portal?.products?.flatMap(({ prices }) => prices) ?? [];
  const others = sold.filter(({ id }) => id !== price_id && allowed.includes(id));
  const prices = await Promise.all(others.map(({ id }) => readForPage(readPrice(id, nowMs))));
  const isIn = (price: Stripe.Price | undefined) =>
    !price || !currency || price.currency === currency || price.currency_options?.[currency];
  return others.filter((_, at) => isIn(prices[at]));
}

/** What the change to another price costs, as Stripe previews it; `undefined` if Stripe does not say so in time. */
export function readChangeCost(
  { id, version, last_event_at_ms }: Row,
  priceId: string,
  nowMs: number,
): Promise<ChangeCost | undefined> {
  const ask = async (): Promise<ChangeCost> => {
    const [portal, item, to] = await Promise.all([
      readPortal(nowMs),
      readOnlyItem(id),
      readPrice(priceId, nowMs),
    ]);
    if (!portal || !to) throw new Error("no such change is possible");
    if (waitsForPeriodEnd(portal, item.price, to))
      return { at: "period end", atMs: item.current_period_end * 1000 };
    const isOnce =
      portal.proration_behavior === "always_invoice" ||
      portal.billing_cycle_anchor === "now" ||
      lengthOf(item.price) !== lengthOf(to);
    const subscription_details: Stripe.InvoiceCreatePreviewParams.SubscriptionDetails = {
      items: [{ id: item.id, price: priceId, quantity: item.quantity ?? 1 }],
      proration_behavior: portal.proration_behavior,
    };
    if (portal.billing_cycle_anchor === "now") subscription_details.billing_cycle_anchor = { type: "now" };
    const invoice = await callStripe((stripe) =>
      stripe.invoices.createPreview({ subscription: id, subscription_details }),
    );
    return { at: isOnce ? "once" : "next payment", payment: toPayment(invoice), ...partsOf(invoice) };
  };
  return readForPage(costs().read(`${id} ${version} ${last_event_at_ms} ${priceId}`, nowMs, ask));
}

/** The parts of a previewed invoice: what its lines add, until when the longest of those lasts, what they take off, and tax. */
function partsOf({ lines, period_end, total_taxes }: Stripe.Invoice) {
  const added = lines.data.filter(({ amount }) => !(amount < 0));
  const charged = added.reduce((sum, { amount }) => sum + amount, 0);
  return {
    charged,
    credited: charged - lines.data.reduce((sum, { amount }) => sum + amount, 0),
    addedTax: (total_taxes ?? [])
      .filter(({ tax_behavior }) => tax_behavior === "exclusive")
      .reduce((sum, { amount }) => sum + amount, 0),
    untilMs: (added.length > 0 ? Math.max(...added.map(({ period }) => period.end)) : period_end) * 1000,
  };
}

/** Opens Stripe's portal to confirm the change to another price. Returns its address. Throws an {@link ApiError}. */
export async function openLicenceChange(
  db: Db,
  account: Account,
  priceId: string,
  nowMs: number,
): Promise<string> {
  const licence = findChangeable((await readBilling(db, account.id)).subscriptions);
  if (!licence || !(await listSold(db)).some(({ id }) => id === priceId))
    return openPortal(db, account, nowMs);
  const { id } = licence;
  return openPortal(db, account, nowMs, async () => {
    const item = await readOnlyItem(id);
    const items = [{ id: item.id, price: priceId, quantity: item.quantity ?? 1 }];
    return { type: "subscription_update_confirm", subscription_update_confirm: { subscription: id, items } };
  });
}

/** The item of a subscription. Throws for one that has several: the portal changes none of those. */
async function readOnlyItem(id: string) {
  const { items } = await callStripe((stripe) => stripe.subscriptions.retrieve(id));
  const [item, another] = items.data;
  if (!item || another) throw new ApiError("portal_failed");
  return item;
}

/** Whether the portal lets a change begin with the next period, which it can for cheaper prices and shorter periods. */
function waitsForPeriodEnd({ schedule_at_period_end }: Portal, from: Stripe.Price, to: Stripe.Price) {
  const isCheaper = (to.unit_amount ?? 0) < (from.unit_amount ?? 0);
  const isShorter = lengthOf(to) < lengthOf(from);
  return schedule_at_period_end.conditions.some(({ type }) =>
    type === "decreasing_item_amount" ? isCheaper : type === "shortening_interval" && isShorter,
  );
}

const daysIn: Record<string, number> = { day: 1, week: 7, month: 30, year: 365 };

const lengthOf = ({ recurring }: Stripe.Price) =>
  recurring ? (daysIn[recurring.interval] ?? 0) * recurring.interval_count : 0;
