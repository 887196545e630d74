import type { StripeStandIn } from "@/tests/support/stripe-stand-in";

/** What becomes of a licence at Stripe. */
export type Become = (stripe: StripeStandIn, subscription: string) => void;

/** What becomes of the licences that owners buy. */
export const licences: Record<string, Become> = {
  renewing: () => {},
  "past-due": (stripe, subscription) => {
    stripe.renew(subscription, { isPaid: false });
    ageByMonth(stripe, subscription);
  },
  cancelled: (stripe, subscription) => stripe.cancelAtPeriodEnd(subscription),
  "licence-ended": (stripe, subscription) => {
    ageByMonth(stripe, subscription);
    stripe.end(subscription);
  },
  unpaid: (stripe, subscription) => {
    openLatestInvoice(stripe, subscription);
    stripe.change(subscription, { status: "unpaid" });
  },
  "change-unpaid": (stripe, subscription) =>
    stripe.switchPrice(subscription, "price_team", { isPaid: false }),
  returned: (stripe, subscription) => stripe.refundCharge(stripe.chargeOf(subscription)),
  unfinished: (stripe, subscription) => {
    openLatestInvoice(stripe, subscription);
    // A first payment is not tried again.
    latestInvoice(stripe, subscription).next_payment_attempt = null;
    stripe.change(subscription, { status: "incomplete" });
  },
  pausing: (stripe, subscription) => stripe.pause(subscription),
  "trial-over": (stripe, subscription) => {
    stripe.invoices.delete(latestInvoice(stripe, subscription).id);
    stripe.pause(subscription, "trial_end_without_payment_method");
  },
  "not-collected": (stripe, subscription) =>
    stripe.change(subscription, { pause_collection: { behavior: "void", resumes_at: null } }),
  free: (stripe, subscription) => {
    stripe.invoices.delete(latestInvoice(stripe, subscription).id);
    stripe.change(subscription, { status: "trialing" });
  },
  invoices: (stripe, subscription) => {
    for (let n = 0; n < 13; n++) stripe.renew(subscription);
    stripe.refundCharge(stripe.chargeOf(subscription), 900);
    stripe.renew(subscription, { isPaid: false });
    spreadInvoices(stripe, subscription);
  },
};

function latestInvoice(stripe: StripeStandIn, subscription: string) {
  const invoice = stripe.invoices.get(String(stripe.subscriptions.get(subscription)?.latest_invoice));
  if (!invoice) throw new Error("no invoice");
  return invoice;
}

/** Has a subscription begun thirty days earlier, and each of its invoices come as its period began. */
function ageByMonth(stripe: StripeStandIn, subscription: string): void {
  const month = 30 * 86_400;
  const item = stripe.itemOf(subscription);
  item.current_period_start -= month;
  item.current_period_end -= month;
  const { customer } = latestInvoice(stripe, subscription);
  for (const invoice of stripe.invoices.values()) {
    if (invoice.customer !== customer) continue;
    for (const line of invoice.lines.data)
      line.period = { start: line.period.start - month, end: line.period.end - month };
    invoice.created = invoice.lines.data[0]?.period.start ?? invoice.created;
  }
}

/** Has the invoices of a customer come a month after each other, the latest now. */
function spreadInvoices(stripe: StripeStandIn, subscription: string): void {
  const { customer } = latestInvoice(stripe, subscription);
  const all = [...stripe.invoices.values()].filter((one) => one.customer === customer);
  for (const [at, invoice] of all.entries()) {
    invoice.created -= (all.length - 1 - at) * 30 * 86_400;
    const period = { start: invoice.created, end: invoice.created + 30 * 86_400 };
    for (const line of invoice.lines.data) line.period = period;
    const { start: current_period_start, end: current_period_end } = period;
    Object.assign(stripe.itemOf(subscription), { current_period_start, current_period_end });
  }
}

function openLatestInvoice(stripe: StripeStandIn, subscription: string): void {
  const invoice = latestInvoice(stripe, subscription);
  Object.assign(invoice, { status: "open", amount_paid: 0, amount_remaining: invoice.total });
}
