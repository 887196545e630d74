import type { Stripe } from "stripe";
import { callStripe, findAtStripe } from "@/lib/billing/stripe/calls";
import type { Db } from "@/lib/db/store";
import { findCustomer } from "@/lib/plans/purchases";

/**
 * The customer of an account, its currency if it has one, and the card or Link that it can be charged with while its owner is
 * away: the customer's default, or that of a subscription (Checkout sets it there alone), or the newest card; `undefined` if
 * there is none.
 */
export async function findCard(db: Db, accountId: string) {
  const { customer_id: customer } = (await findCustomer(db, accountId)) ?? {};
  if (!customer) return undefined;
  const expand = ["invoice_settings.default_payment_method"];
  const found = await findAtStripe((stripe) => stripe.customers.retrieve(customer, { expand }));
  if (!found || found.deleted) return undefined;
  const ofSubscriptions = async () => {
    const asked = { customer, limit: 10, expand: ["data.default_payment_method"] };
    const { data } = await callStripe((stripe) => stripe.subscriptions.list(asked));
    return data.map(({ default_payment_method }) => default_payment_method).find(isCard);
  };
  const newest = async () => {
    const { data } = await callStripe((stripe) =>
      stripe.customers.listPaymentMethods(customer, { type: "card", limit: 1 }),
    );
    return data.find(isCard);
  };
  const preferred = found.invoice_settings.default_payment_method;
  const card = isCard(preferred) ? preferred : ((await ofSubscriptions()) ?? (await newest()));
  return card && { customer, currency: found.currency, id: card.id };
}

const isCard = (method: string | Stripe.PaymentMethod | null): method is Stripe.PaymentMethod =>
  typeof method === "object" && (method?.type === "card" || method?.type === "link");
