import type { Stripe } from "stripe";
import { idOf, listAtStripe, readAtStripe } from "@/lib/billing/stripe";

/**
 * How much of a charge was refunded or lost in a dispute, in the currency's smallest unit and as a share from 0 to 1, and how
 * its disputes were decided.
 */
export type Returned = {
  paid: number;
  returned: number;
  share: number;
  isDisputeLost: boolean;
  isDisputeWon: boolean;
};

/** Reads how much of a charge was refunded or lost in disputes. */
export async function readReturned(charge: Stripe.Charge): Promise<Returned> {
  const { amount: paid, amount_refunded, disputed } = charge;
  const disputes = disputed
    ? (await readAtStripe((stripe) => stripe.disputes.list({ charge: charge.id }))).data
    : [];
  const lost = disputes.filter(({ status }) => status === "lost");
  const all = lost.reduce((sum, dispute) => sum + dispute.amount, amount_refunded);
  const returned = Math.min(all, paid);
  return {
    paid,
    returned,
    share: paid > 0 ? returned / paid : 0,
    isDisputeLost: lost.length > 0,
    isDisputeWon: disputes.some(({ status }) => status === "won"),
  };
}

/** The part of what was sold that was returned, rounded down. A float would lose a thousandth of some. */
export function partReturned(thousandths: number, { paid, returned }: Returned): number {
  return paid > 0 ? Number((BigInt(thousandths) * BigInt(returned)) / BigInt(paid)) : 0;
}

/**
 * Whether everything that was paid for a subscription's period was refunded, or lost in disputes: each invoice since its start
 * by all its payments. What a balance paid, or someone outside Stripe, was not returned.
 */
export async function isWhollyReturned(subscription: string, periodStart: number): Promise<boolean> {
  const created = { gte: periodStart - 3600 }; // the first invoice may be a moment older than the period
  let isAnyReturned = false;
  for await (const page of listAtStripe((stripe, page) =>
    stripe.invoices.list({ subscription, status: "paid", created, ...page }),
  ))
    for (const { id, total } of page.filter(({ total }) => total > 0)) {
      if (!(await isInvoiceReturned(id, total))) return false;
      isAnyReturned = true;
    }
  return isAnyReturned;
}

async function isInvoiceReturned(invoice: string, total: number): Promise<boolean> {
  const expand = ["data.payment.payment_intent.latest_charge", "data.payment.charge"];
  let paid = 0;
  for await (const page of listAtStripe((stripe, page) =>
    stripe.invoicePayments.list({ invoice, status: "paid", expand, ...page }),
  ))
    for (const { amount_paid, payment } of page) {
      const { payment_intent: intent } = payment;
      const charge = (typeof intent === "object" && intent?.latest_charge) || payment.charge;
      if (!charge || typeof charge !== "object" || (await readReturned(charge)).share < 1) return false;
      paid += amount_paid ?? 0;
    }
  return paid >= total;
}

/** The subscriptions whose invoices a payment has paid. */
export async function findSubscriptionsOf(payment_intent: string): Promise<string[]> {
  const payment = { type: "payment_intent", payment_intent } as const;
  const found: string[] = [];
  for await (const page of listAtStripe((stripe, page) =>
    stripe.invoicePayments.list({ payment, expand: ["data.invoice"], ...page }),
  ))
    for (const { invoice } of page) {
      const details =
        typeof invoice === "object" && "parent" in invoice && invoice.parent?.subscription_details;
      if (details) found.push(idOf(details.subscription));
    }
  return found;
}
