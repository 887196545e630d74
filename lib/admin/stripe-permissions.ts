import type { Stripe } from "stripe";
import { callStripe, StripeFailure } from "@/lib/billing/stripe/calls";

/** No object at Stripe has such an id, so what would change one changes nothing. */
const none = (prefix: string) => `${prefix}_cornerofficecheck`;

type Trial = (stripe: Stripe) => Promise<unknown>;

/** What a restricted key has to be allowed, as Stripe's dashboard calls it, and a harmless call that needs it. */
const permissions: Record<string, Trial> = {
  "Customers: write": (stripe) => stripe.customers.update(none("cus"), { description: "" }),
  "Checkout Sessions: write": (stripe) => stripe.checkout.sessions.expire(none("cs")),
  "Customer portal: write": (stripe) => stripe.billingPortal.sessions.create({ customer: none("cus") }),
  "Subscriptions: write": (stripe) => stripe.subscriptions.cancel(none("sub")),
  "Invoices: write": (stripe) => stripe.invoices.voidInvoice(none("in")),
  "Payment Methods: read": (stripe) => stripe.customers.listPaymentMethods(none("cus"), { limit: 1 }),
  "Charges and Refunds: read": (stripe) => stripe.refunds.list({ limit: 1 }),
  "Payment Intents: read": (stripe) => stripe.paymentIntents.list({ limit: 1 }),
  "Disputes: read": (stripe) => stripe.disputes.list({ limit: 1 }),
  "Prices: read": (stripe) => stripe.prices.list({ limit: 1 }),
  "Products: read": (stripe) => stripe.products.list({ limit: 1 }),
  "Webhook Endpoints: read": (stripe) => stripe.webhookEndpoints.list({ limit: 1 }),
};

const ofTax: Record<string, Trial> = {
  "Tax Settings: read": (stripe) => stripe.tax.settings.retrieve(),
};

/** The names of all permissions, for `.env.example`. */
export const permissionNames = Object.keys({ ...permissions, ...ofTax });

/**
 * Tries each permission that we use, and returns those that STRIPE_SECRET_KEY lacks. Stripe answers 403 before it looks for
 * the object. Throws a {@link StripeFailure} for a text that is not a key, and while Stripe cannot be asked.
 */
export async function findMissingPermissions(hasTax: boolean): Promise<string[]> {
  const tried = Object.entries({ ...permissions, ...(hasTax && ofTax) }).map(async ([name, trial]) => {
    const status = await callStripe(trial).then(
      () => 200,
      (failure) => {
        if (failure instanceof StripeFailure && [400, 403, 404].includes(failure.status ?? 0))
          return failure.status;
        throw failure;
      },
    );
    return status === 403 ? [name] : [];
  });
  return (await Promise.all(tried)).flat();
}
