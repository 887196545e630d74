import type { Purchase } from "@/lib/billing/fulfilment/fulfilment";

/** The events at Stripe by which a purchase is settled, changes or ends, and what their object is or names. */
export const purchaseEvents: Readonly<Partial<Record<string, "checkout" | "subscription" | "payment">>> = {
  "checkout.session.completed": "checkout",
  "checkout.session.async_payment_succeeded": "checkout",
  "checkout.session.async_payment_failed": "checkout",
  "checkout.session.expired": "checkout",
  "customer.subscription.created": "subscription",
  "customer.subscription.updated": "subscription",
  "customer.subscription.deleted": "subscription",
  "customer.subscription.paused": "subscription",
  "customer.subscription.resumed": "subscription",
  "charge.refunded": "payment",
  "charge.dispute.created": "payment",
  "charge.dispute.closed": "payment",
  "refund.failed": "payment",
};

/** The purchase that an event is about; `undefined` if it is none of ours. */
export function purchaseIn({ type, data }: { type: string; data: { object: object } }): Purchase | undefined {
  const kind = purchaseEvents[type];
  const { id, payment_intent } = data.object as { id?: unknown; payment_intent?: unknown };
  const named = kind === "payment" ? payment_intent : id;
  return kind && typeof named === "string" ? ({ [kind]: named } as Purchase) : undefined;
}
