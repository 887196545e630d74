import type { Stripe } from "stripe";
import { readPrice } from "@/lib/billing/prices";
import { moneyInWords } from "@/lib/config/money";

/** A price as the page shows it; `amount` is undefined if only the checkout shows it. */
export type Offer = { priceId: string; name: string; amount: string | undefined };

/** Reads the offers of these prices, without those that are no longer sold. */
export async function readOffers(ids: string[], fallbackName: string, nowMs: number): Promise<Offer[]> {
  const read = await Promise.all(ids.map((id) => readOffer(id, fallbackName, nowMs)));
  return read.filter(({ isSold }) => isSold);
}

/** Reads a price, also one that is no longer sold. */
export async function readOffer(priceId: string, fallbackName: string, nowMs: number) {
  const price = await readPrice(priceId, nowMs);
  const name = price?.nickname || (price?.product as Stripe.Product | undefined)?.name || fallbackName;
  return { priceId, name, amount: price && amountInWords(price), isSold: price?.active !== false };
}

/** For example `€49.00 a month`; `undefined` for a price that depends on the quantity. */
function amountInWords({ unit_amount, currency, recurring }: Stripe.Price): string | undefined {
  if (unit_amount === null) return undefined;
  const amount = moneyInWords(unit_amount, currency);
  if (!recurring) return amount;
  const { interval, interval_count: count } = recurring;
  return `${amount} ${count === 1 ? `a ${interval}` : `every ${count} ${interval}s`}`;
}
