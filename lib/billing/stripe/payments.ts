import type { Stripe } from "stripe";
import { callStripe, idOf, listAtStripe } from "@/lib/billing/stripe/calls";

/** A charge: what was paid, what of it was refunded or lost in a dispute, and how its disputes were decided. */
export type Payment = {
  id: string;
  amount: number;
  returned: number;
  dispute: "lost" | "open" | "won" | null;
  currency: string;
  paid_at_ms: number;
};

/** A dispute of all that was paid may be for less: a bank abroad converts it at the rate of its own day. */
const disputedAsWhole = 0.9;

/** Reads how much of a charge was refunded or lost in disputes. */
export async function readPayment(charge: Stripe.Charge): Promise<Payment> {
  const { id, amount, amount_refunded, disputed, currency, created } = charge;
  const disputes = disputed
    ? (await callStripe((stripe) => stripe.disputes.list({ charge: charge.id }))).data
    : [];
  const lost = disputes.filter(isLost);
  const all = lost.reduce((sum, dispute) => sum + dispute.amount, amount_refunded);
  const isWhole = all >= (lost.length > 0 ? amount * disputedAsWhole : amount);
  const isClosed = disputes.every(({ status }) => ["won", "warning_closed", "prevented"].includes(status));
  return {
    id,
    amount,
    returned: isWhole ? amount : all,
    dispute: !disputed ? null : lost.length > 0 ? "lost" : isClosed ? "won" : "open",
    currency,
    paid_at_ms: created * 1000,
  };
}

/**
 * Whether a dispute has taken the money: an appeal is of one that was lost, and Visa's resolution prevents one by paying the
 * customer (docs.stripe.com/changelog/basil/2025-08-27/add-preventions-to-dispute).
 */
const isLost = ({ status, payment_method_details: method }: Stripe.Dispute) =>
  status === "lost" ||
  status.startsWith("appeal_") ||
  (status === "prevented" && method?.card?.case_type === "resolution");

/** The part of what was sold, or asked for, that was returned, rounded down. A float would lose a thousandth of some. */
export function partReturned(thousandths: number, { amount, returned }: Payment): number {
  return amount > 0 ? Number((BigInt(thousandths) * BigInt(returned)) / BigInt(amount)) : 0;
}

export const isWhollyReturned = ({ amount, returned }: Payment) => amount > 0 && returned === amount;

/**
 * Reads the payments for a subscription's period, and whether all of them were refunded, or lost in disputes: each invoice
 * since its start by all its payments. What a balance paid, or someone outside Stripe, was not returned.
 */
export async function readPeriod(subscription: string, periodStart: number) {
  const created = { gte: periodStart - 3600 }; // the first invoice may be a moment older than the period
  const payments: Payment[] = [];
  let [isAnyPaid, isAllReturned] = [false, true];
  for await (const { id, total } of listAtStripe((stripe, page) =>
    stripe.invoices.list({ subscription, status: "paid", created, ...page }),
  )) {
    if (!(total > 0)) continue;
    const ofInvoice = await readPaymentsOf(id);
    const sum = ofInvoice.reduce((all, { amount }) => all + amount, 0);
    payments.push(...ofInvoice);
    isAnyPaid = true;
    isAllReturned &&= sum >= total && ofInvoice.every(isWhollyReturned);
  }
  return { payments, isReturned: isAnyPaid && isAllReturned };
}

const withCharge = ["data.payment.payment_intent.latest_charge", "data.payment.charge"];

export async function readPaymentsOf(invoice: string): Promise<Payment[]> {
  const payments: Payment[] = [];
  for await (const { payment } of listAtStripe((stripe, page) =>
    stripe.invoicePayments.list({ invoice, status: "paid", expand: withCharge, ...page }),
  ))
    payments.push(...(await readCharged(payment)));
  return payments;
}

/** Whether a bank was asked for a payment of an invoice and has not answered, which may take two weeks. */
export async function isAtBank(invoice: string): Promise<boolean> {
  const expand = ["data.payment.payment_intent"];
  for await (const { payment } of listAtStripe((stripe, page) =>
    stripe.invoicePayments.list({ invoice, expand, ...page }),
  )) {
    const { payment_intent: intent } = payment;
    if (typeof intent === "object" && intent?.status === "processing") return true;
  }
  return false;
}

async function readCharged({ payment_intent: intent, charge: own }: Stripe.InvoicePayment.Payment) {
  const charge = (typeof intent === "object" && intent?.latest_charge) || own;
  return typeof charge === "object" && isPaid(charge) ? [await readPayment(charge)] : [];
}

/** Whether a charge has brought money: those of a bank are pending at first, and may fail. */
export const isPaid = ({ status }: Stripe.Charge) => status === "succeeded";

/** What a payment has paid by invoices: subscriptions, with that payment as it is now, and automatic purchases. */
export async function findPaidBy(payment_intent: string) {
  const paid = { type: "payment_intent", payment_intent } as const;
  const found: ({ subscription: string; payments: Payment[] } | { invoice: string })[] = [];
  for await (const { invoice, payment } of listAtStripe((stripe, page) =>
    stripe.invoicePayments.list({ payment: paid, expand: ["data.invoice", ...withCharge], ...page }),
  )) {
    const details =
      typeof invoice === "object" && "parent" in invoice && invoice.parent?.subscription_details;
    if (details)
      found.push({ subscription: idOf(details.subscription), payments: await readCharged(payment) });
    else if (typeof invoice === "object" && "metadata" in invoice && invoice.metadata?.top_up)
      found.push({ invoice: invoice.id });
  }
  return found;
}
