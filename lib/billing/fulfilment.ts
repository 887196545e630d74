import type { Cause } from "@/lib/accounts/purchases";
import { fulfilCheckout } from "@/lib/billing/paid-checkout";
import { findSubscriptionsOf } from "@/lib/billing/refunds";
import { readAtStripe } from "@/lib/billing/stripe";
import { fulfilSubscription } from "@/lib/billing/subscription";
import type { Db } from "@/lib/db/store";
import { processSingleton } from "@/lib/process-singleton";
import { metrics } from "@/lib/runtime/metrics";

/** An object at Stripe, by its id: a checkout session, a subscription or a payment intent. */
export type Purchase = { checkout: string } | { subscription: string } | { payment: string };

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

/**
 * Gives an account what was bought, or takes back what ended. It reads the object at Stripe, so the order of events does
 * not matter, and stores what it did by Stripe's ids, so a repetition changes nothing. It ignores what is none of ours.
 * Throws if Stripe or the store fails; it can then be repeated.
 */
export async function fulfil(db: Db, purchase: Purchase, event: string, nowMs: number): Promise<void> {
  const cause = { event, nowMs };
  try {
    if ("subscription" in purchase) await fulfilSubscription(db, purchase.subscription, cause);
    else if ("checkout" in purchase) await fulfilCheckout(db, purchase.checkout, cause);
    else await fulfilPayment(db, purchase.payment, cause);
    failing().sinceMs = undefined;
  } catch (failure) {
    metrics()?.purchases.inc({ outcome: "failed" });
    failing().sinceMs ??= nowMs;
    throw failure;
  }
}

/** Since when nothing could be fulfilled by this process, in Unix milliseconds; for operators. */
export const failing = () =>
  processSingleton<{ sinceMs: number | undefined }>("failing fulfilment", () => ({ sinceMs: undefined }));

/** A payment is refunded or disputed, but its checkout or its subscription says what was bought. */
async function fulfilPayment(db: Db, payment_intent: string, cause: Cause): Promise<void> {
  const { data } = await readAtStripe((stripe) =>
    stripe.checkout.sessions.list({ payment_intent, limit: 1 }),
  );
  for (const { id } of data) await fulfilCheckout(db, id, cause);
  if (data.length > 0) return;
  for (const id of await findSubscriptionsOf(payment_intent)) await fulfilSubscription(db, id, cause);
}
