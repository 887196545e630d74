import type { Stripe } from "stripe";
import { callStripe } from "@/lib/billing/stripe/calls";
import { KeptReadings, readForPage } from "@/lib/billing/stripe/kept-readings";
import type { Tables } from "@/lib/db/tables";
import { perProcess } from "@/lib/per-process";

const keptMs = 60 * 60 * 1000; // 1 hour, and no longer than until the subscription is read again

/** What Stripe will charge next: the amount and the tax in it, in the currency's smallest unit. */
export type NextPayment = { amount: number; tax: number; currency: string; atMs: number };

const payments = perProcess("next payments", () => new KeptReadings<NextPayment>(keptMs));

/** The next payment for a subscription as Stripe previews it, for a page; `undefined` if Stripe does not say so in time. */
export function readNextPayment(
  { id, version, last_event_at_ms }: Tables["billing_subscriptions"],
  nowMs: number,
): Promise<NextPayment | undefined> {
  const preview = async () =>
    toPayment(await callStripe((stripe) => stripe.invoices.createPreview({ subscription: id })));
  return readForPage(payments().read(`${id} ${version} ${last_event_at_ms}`, nowMs, preview));
}

/** The payment of a previewed invoice. */
export function toPayment(invoice: Stripe.Invoice): NextPayment {
  const { amount_due, total, total_excluding_tax, currency, next_payment_attempt, period_end } = invoice;
  // A credit pays the tax as well.
  const tax = amount_due === total ? total - (total_excluding_tax ?? total) : 0;
  return { amount: amount_due, tax, currency, atMs: (next_payment_attempt ?? period_end) * 1000 };
}
