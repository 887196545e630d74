import type { Stripe } from "stripe";
import { idOf, readAtStripe } from "@/lib/billing/stripe";

/** The part of a charge that was refunded or lost in a dispute, from 0 to 1, and whether a dispute was lost. */
export async function readReturned(
  charge: Stripe.Charge,
): Promise<{ share: number; isDisputeLost: boolean }> {
  const { amount, amount_refunded, disputed } = charge;
  const disputes = disputed
    ? (await readAtStripe((stripe) => stripe.disputes.list({ charge: charge.id }))).data
    : [];
  const lost = disputes.filter(({ status }) => status === "lost");
  const returned = lost.reduce((sum, dispute) => sum + dispute.amount, amount_refunded);
  return { share: amount > 0 ? Math.min(1, returned / amount) : 0, isDisputeLost: lost.length > 0 };
}

/** Whether everything that was paid for a subscription's period was refunded, or lost in disputes. */
export async function isWhollyReturned(
  customer: string,
  subscription: string,
  periodStart: number,
): Promise<boolean> {
  const created = { gte: periodStart - 3600 }; // the first charge is a moment older than the period
  const { data } = await readAtStripe((stripe) => stripe.charges.list({ customer, created, limit: 100 }));
  const charges = data.filter(({ status }) => status === "succeeded");
  if (!charges.some(({ refunded, disputed }) => refunded || disputed)) return false;
  const shares: number[] = [];
  for (const charge of charges) {
    const paid = charge.payment_intent && (await findSubscriptionsOf(idOf(charge.payment_intent)));
    if (paid?.includes(subscription)) shares.push((await readReturned(charge)).share);
  }
  return shares.length > 0 && shares.every((share) => share === 1);
}

/** The subscriptions whose invoices a payment has paid. */
export async function findSubscriptionsOf(payment_intent: string): Promise<string[]> {
  const payment = { type: "payment_intent", payment_intent } as const;
  const { data } = await readAtStripe((stripe) =>
    stripe.invoicePayments.list({ payment, expand: ["data.invoice"] }),
  );
  return data.flatMap(({ invoice }) => {
    const details =
      typeof invoice === "object" && "parent" in invoice && invoice.parent?.subscription_details;
    return details ? idOf(details.subscription) : [];
  });
}
