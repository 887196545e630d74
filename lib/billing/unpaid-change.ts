import type { Stripe } from "stripe";
import { findLicenceItems } from "@/lib/billing/licence-prices";
import { limitOf, readPrice } from "@/lib/billing/prices";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

type Before = Pick<Tables["billing_subscriptions"], "price_id" | "assistant_limit"> & { paidUntilMs: number };

/**
 * What a subscription contained before its latest change, and until when that was paid, while the change is not; `undefined`
 * if all is paid that it contains. Stripe changes the price before it collects, and keeps it also if its invoice is voided.
 */
export async function readBefore(
  db: Db,
  subscription: Stripe.Subscription,
  known: Tables["billing_subscriptions"] | undefined,
  nowMs: number,
): Promise<Before | undefined> {
  const { status, latest_invoice: invoice } = subscription;
  if (!invoice || typeof invoice === "string") return undefined;
  const isChange = invoice.billing_reason === "subscription_update";
  const isOwing = ["past_due", "unpaid", "paused"].includes(status) && invoice.status === "open";
  const wasDropped = isChange && ["void", "uncollectible"].includes(invoice.status ?? "");
  if (!wasDropped && !(isOwing && (isChange || known?.status_reason === "change"))) return undefined;
  if (known?.status_reason === "change") {
    const { price_id, assistant_limit, unpaid_since_ms, period_ends_ms } = known;
    return { price_id, assistant_limit, paidUntilMs: unpaid_since_ms ?? period_ends_ms };
  }
  return (
    (await findReplaced(db, invoice, nowMs)) ?? (known && { ...known, paidUntilMs: known.period_ends_ms })
  );
}

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
  const items = await findLicenceItems(db, priced, nowMs);
  const [first] = items;
  if (!first) return undefined;
  return {
    price_id: first.price.id,
    assistant_limit: limitOf(items),
    paidUntilMs: Math.max(...items.map(({ period }) => period.end)) * 1000,
  };
}
