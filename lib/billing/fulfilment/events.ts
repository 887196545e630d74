import type { Purchase } from "@/lib/billing/fulfilment/fulfilment";

type Kind = "checkout" | "subscription" | "invoice" | "payment";

/**
 * The events at Stripe by which a purchase is settled, changes or ends, and what their object is or names. An invoice that was
 * sent by mail changes nothing of its active subscription when it is paid.
 */
export const purchaseEvents: Readonly<Partial<Record<string, Kind>>> = {
  "checkout.session.completed": "checkout",
  "checkout.session.async_payment_succeeded": "checkout",
  "checkout.session.async_payment_failed": "checkout",
  "checkout.session.expired": "checkout",
  "customer.subscription.created": "subscription",
  "customer.subscription.updated": "subscription",
  "customer.subscription.deleted": "subscription",
  "customer.subscription.paused": "subscription",
  "customer.subscription.resumed": "subscription",
  "invoice.paid": "invoice",
  "invoice.voided": "invoice",
  "invoice.marked_uncollectible": "invoice",
  "charge.refunded": "payment",
  "charge.dispute.created": "payment",
  "charge.dispute.closed": "payment",
  "refund.updated": "payment",
  "refund.failed": "payment",
};

/** What of an event's object names a purchase. Endpoints with an older version of the API have an invoice's `subscription`. */
type Named = {
  id?: unknown;
  payment_intent?: unknown;
  subscription?: unknown;
  parent?: { subscription_details?: { subscription?: unknown } | null } | null;
};

/** The purchase that an event is about; `undefined` if it is none of ours. */
export function purchaseIn({ type, data }: { type: string; data: { object: object } }): Purchase | undefined {
  const { id, payment_intent, subscription, parent }: Named = data.object;
  const ofInvoice = parent?.subscription_details?.subscription ?? subscription;
  const purchases = {
    checkout: { checkout: id },
    subscription: { subscription: id },
    invoice: { subscription: ofInvoice },
    payment: { payment: payment_intent },
  };
  const kind = purchaseEvents[type];
  const purchase = kind && purchases[kind];
  return purchase && typeof Object.values(purchase)[0] === "string" ? (purchase as Purchase) : undefined;
}
