import type { Stripe } from "stripe";
import { callStripe, findAtStripe } from "@/lib/billing/stripe/calls";
import { KeptReadings, readForPage } from "@/lib/billing/stripe/kept-readings";
import type { Db } from "@/lib/db/store";
import { perProcess } from "@/lib/per-process";
import { findCustomer } from "@/lib/plans/purchases";

/** A card as its owner knows it: `Visa`, the last four digits, and the month after which it does not pay. */
export type Card = { brand: string; last4: string; year: number; month: number };

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
  const method = isCard(preferred) ? preferred : ((await ofSubscriptions()) ?? (await newest()));
  return method && { customer, currency: found.currency, id: method.id, card: toCard(method) };
}

const isCard = (method: string | Stripe.PaymentMethod | null): method is Stripe.PaymentMethod =>
  typeof method === "object" && (method?.type === "card" || method?.type === "link");

/** The card of a method of payment; `undefined` of Link, which does not say what is behind it. */
export function toCard(method: string | Stripe.PaymentMethod | null | undefined): Card | undefined {
  const card = typeof method === "object" ? method?.card : undefined;
  if (!card) return undefined;
  const { brand, display_brand, last4, exp_year: year, exp_month: month } = card;
  return { brand: titleCase(display_brand ?? brand), last4, year, month };
}

const keptMs = 60 * 1000; // 1 minute: a card that was added in the portal shows soon

const kept = perProcess("cards", () => new KeptReadings<string | null>(keptMs));

/** The card of {@link findCard} in words, or Link; null if there is no card, `undefined` if Stripe is late. */
export function readCardOf(db: Db, accountId: string, nowMs: number): Promise<string | null | undefined> {
  const find = async () => {
    const found = await findCard(db, accountId);
    return found ? (found.card ? cardInWords(found.card, nowMs) : "Link") : null;
  };
  return readForPage(kept().read(accountId, nowMs, find));
}

/** For example `Visa ending in 4242 (expires 08/27)`. */
export const cardInWords = (card: Card, nowMs: number) =>
  `${card.brand} ending in ${card.last4} (${expiryInWords(card, nowMs)})`;

/** For example `expires 08/27`: a card pays to the end of its month. */
export function expiryInWords({ year, month }: Card, nowMs: number): string {
  const ends = Date.UTC(year, month) <= nowMs ? "expired" : "expires";
  return `${ends} ${String(month).padStart(2, "0")}/${String(year).slice(-2)}`;
}

/** `American Express` of Stripe's `american_express`. */
const titleCase = (brand: string) =>
  brand.replaceAll("_", " ").replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
