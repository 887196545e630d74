import type { Stripe } from "stripe";
import { assignPlans, limitOfItems } from "@/lib/billing/prices/licence-prices";
import { readPrice } from "@/lib/billing/prices/prices";
import { callStripe, hasEnded } from "@/lib/billing/stripe/calls";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

type Before = Pick<Tables["billing_subscriptions"], "price_id" | "assistant_limit"> & { paidUntilMs: number };

/** A subscription as it was read, its invoices since one was settled, and what the store has of it. */
type Asked = {
  subscription: Stripe.Subscription;
  unsettled: Stripe.Invoice[];
  known: Tables["billing_subscriptions"] | undefined;
};

const daysIn: Record<string, number> = { day: 1, week: 7, month: 31, year: 366 };

/**
 * What a subscription contained before its latest change, and the period that was paid then, while the change is not;
 * `undefined` if all is paid that it contains. Stripe changes the price before it collects, and keeps it also if its invoice
 * is voided.
 *
 * @returns `paidSince` in Unix seconds: when the paid period began, or up to three days before for each of its months
 */
export async function readBefore(
  db: Db,
  asked: Asked,
  nowMs: number,
): Promise<(Before & { paidSince: number | undefined }) | undefined> {
  const before = await findBefore(db, asked, nowMs);
  const price = before?.price_id ? await readPrice(before.price_id, nowMs) : undefined;
  const days = price && daysOf(price);
  return before && { ...before, paidSince: days ? (before.paidUntilMs - days * dayMs) / 1000 : undefined };
}

/** How many days a price is for, at most. */
export const daysOf = ({ recurring }: Pick<Stripe.Price, "recurring">) =>
  recurring ? (daysIn[recurring.interval] ?? 0) * recurring.interval_count : 0;

async function findBefore(db: Db, asked: Asked, nowMs: number): Promise<Before | undefined> {
  const { known } = asked;
  const invoice = findUnpaidChange(asked);
  if (!invoice) return undefined;
  const paidUntilMs = known?.status_reason === "change" && (known.unpaid_since_ms ?? known.period_ends_ms);
  // A later one is the change of another period.
  if (known && paidUntilMs && invoice.created * 1000 <= paidUntilMs) return { ...known, paidUntilMs };
  return (
    (await findReplaced(db, invoice, nowMs)) ?? (known && { ...known, paidUntilMs: known.period_ends_ms })
  );
}

/** The invoice of the first change that is not paid, unless it was dropped, and a later period too. */
function findUnpaidChange({ subscription, unsettled }: Asked): Stripe.Invoice | undefined {
  const isOwing = ["past_due", "unpaid", "paused"].includes(subscription.status);
  if (!isOwing && !isDropped(latestOf(subscription))) return undefined;
  const gives = (invoice: Stripe.Invoice) => invoice.status === "void" && !isChange(invoice);
  const isGiven = (invoice: Stripe.Invoice, at: number) =>
    isDropped(invoice) && unsettled.slice(0, at).some(gives);
  return unsettled.findLast((invoice, at) => isChange(invoice) && !isGiven(invoice, at));
}

/** The invoices of a subscription since one was settled, newest first: what is open from before is not asked for any more. */
export async function readUnsettled(subscription: Stripe.Subscription): Promise<Stripe.Invoice[]> {
  const { id, status, collection_method } = subscription;
  const latest = latestOf(subscription);
  if (!latest || settles(latest)) return [];
  const isActive = ["active", "trialing"].includes(status) && collection_method !== "send_invoice";
  if (hasEnded(subscription) || (isActive && !isDropped(latest))) return [latest];
  const { data } = await callStripe((stripe) => stripe.invoices.list({ subscription: id, limit: 100 }));
  const settled = data.findIndex(settles);
  return settled < 0 ? data : data.slice(0, settled);
}

const latestOf = ({ latest_invoice: latest }: Stripe.Subscription) =>
  latest && typeof latest === "object" ? latest : undefined;

/** Whether an invoice makes its subscription active at Stripe, whatever is open from before: a void one does not count. */
const settles = (invoice: Stripe.Invoice) =>
  invoice.status === "paid" || (invoice.status === "uncollectible" && !isChange(invoice));

const isChange = ({ billing_reason }: Stripe.Invoice) => billing_reason === "subscription_update";

const isDropped = (invoice: Stripe.Invoice | undefined) =>
  invoice !== undefined && isChange(invoice) && ["void", "uncollectible"].includes(invoice.status ?? "");

/** The invoice of a change credits what is left of what it replaces: a line with a negative amount. */
async function findReplaced(db: Db, { lines }: Stripe.Invoice, nowMs: number): Promise<Before | undefined> {
  const replaced = lines.data.flatMap(({ amount, quantity, pricing, period }) => {
    const id = pricing?.price_details?.price;
    return amount < 0 && id
      ? { id: typeof id === "string" ? id : id.id, quantity: quantity ?? 1, period }
      : [];
  });
  const read = await Promise.all(
    replaced.map(async (line) => ({ ...line, price: await readPrice(line.id, nowMs) })),
  );
  const priced = read.flatMap(({ price, ...line }) => (price ? { ...line, price } : []));
  const items = await assignPlans(db, priced, nowMs);
  const [first] = items;
  if (!first) return undefined;
  return {
    price_id: first.price.id,
    assistant_limit: limitOfItems(items),
    paidUntilMs: Math.max(...items.map(({ period }) => period.end)) * 1000,
  };
}
