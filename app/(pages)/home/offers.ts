import type { Stripe } from "stripe";
import { readPrice } from "@/lib/billing/prices";
import { moneyInWords } from "@/lib/config/money";

/** A price as the page shows it; `amount` is undefined if only the checkout shows it. */
export type Offer = { priceId: string; name: string; amount: string | undefined };

/** Reads the offers of these prices, without those that are no longer sold. */
export async function readOffers(ids: string[], fallbackName: string, nowMs: number): Promise<Offer[]> {
  const read = await Promise.all(ids.map(async (id) => ({ id, price: await readPrice(id, nowMs) })));
  return read
    .filter(({ price }) => price?.active !== false)
    .map(({ id, price }) => ({
      priceId: id,
      name: price?.nickname || (price?.product as Stripe.Product | undefined)?.name || fallbackName,
      amount: price && amountInWords(price),
    }));
}

/** For example `€49.00 a month`; `undefined` for a price that depends on the quantity. */
function amountInWords({ unit_amount, currency, recurring }: Stripe.Price): string | undefined {
  if (unit_amount === null) return undefined;
  const amount = moneyInWords(unit_amount, currency);
  if (!recurring) return amount;
  const { interval, interval_count: count } = recurring;
  return `${amount} ${count === 1 ? `a ${interval}` : `every ${count} ${interval}s`}`;
}
