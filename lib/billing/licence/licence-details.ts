import type { Stripe } from "stripe";
import { callStripe } from "@/lib/billing/stripe/calls";
import { KeptReadings, readForPage } from "@/lib/billing/stripe/kept-readings";
import type { Tables } from "@/lib/db/tables";
import { processSingleton } from "@/lib/process-singleton";

const keptMs = 60 * 1000; // 1 minute: a card that was changed in the portal shows soon

/** A card as its owner knows it: `Visa` and the last four digits. */
export type Card = { brand: string; last4: string };

const cards = () => processSingleton("cards", () => new KeptReadings<Card | undefined>(keptMs));

/** The card that Stripe charges for a subscription, for a page; `undefined` if something else pays, or Stripe is late. */
export function readCardOf(
  { id }: Tables["billing_subscriptions"],
  nowMs: number,
): Promise<Card | undefined> {
  const expand = ["default_payment_method", "customer.invoice_settings.default_payment_method"];
  return readForPage(
    cards().read(id, nowMs, async () => {
      const found = await callStripe((stripe) => stripe.subscriptions.retrieve(id, { expand }));
      const { customer, default_payment_method: own } = found;
      const hasDefault = typeof customer === "object" && !customer.deleted;
      return (
        toCard(own) ?? (hasDefault ? toCard(customer.invoice_settings?.default_payment_method) : undefined)
      );
    }),
  );
}

function toCard(method: string | Stripe.PaymentMethod | null | undefined): Card | undefined {
  const card = typeof method === "object" ? method?.card : undefined;
  return card ? { brand: card.display_brand ?? card.brand, last4: card.last4 } : undefined;
}
