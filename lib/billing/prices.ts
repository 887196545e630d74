import type { Stripe } from "stripe";
import { readAtStripe } from "@/lib/billing/stripe";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";

const keptMs = 10 * 60 * 1000; // 10 minutes
const retryAfterMs = 30_000; // 30 seconds, so that no page waits for Stripe each time

type Kept = { price: Promise<Stripe.Price | undefined>; untilMs: number };

const kept = () => processSingleton("prices", () => new Map<string, Kept>());

/** A price with its product, as Stripe had it at most ten minutes ago; `undefined` while Stripe cannot be asked. */
export function readPrice(id: string, nowMs: number): Promise<Stripe.Price | undefined> {
  const known = kept().get(id);
  if (known && nowMs < known.untilMs) return known.price;
  const reading: Kept = {
    untilMs: nowMs + keptMs,
    price: readAtStripe((stripe) => stripe.prices.retrieve(id, { expand: ["product"] })).catch((failure) => {
      log().warn({ err: failure, price: id }, "a price could not be read");
      reading.untilMs = nowMs + retryAfterMs;
      return undefined;
    }),
  };
  kept().set(id, reading);
  return reading.price;
}

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

/** Currencies that Stripe counts in hundredths, although they have none. */
const countedInHundredths = ["isk", "ugx"];

/** For example `€49.00 a month`; `undefined` for a price that depends on the quantity. */
function amountInWords({ unit_amount, currency, recurring }: Stripe.Price): string | undefined {
  if (unit_amount === null) return undefined;
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const { maximumFractionDigits: decimals = 2 } = format.resolvedOptions();
  const amount = format.format(unit_amount / 10 ** (countedInHundredths.includes(currency) ? 2 : decimals));
  if (!recurring) return amount;
  const { interval, interval_count: count } = recurring;
  return `${amount} ${count === 1 ? `a ${interval}` : `every ${count} ${interval}s`}`;
}

/** The whole credits that a one-time price is for, by its metadata; `undefined` if they are not a number. */
export function creditsOf({ metadata }: Pick<Stripe.Price, "metadata">): number | undefined {
  return wholeNumber(metadata.credits) || undefined;
}

/** The limit of assistants that comes with a recurring price, by its metadata; null if it has none. */
export function limitOf({ metadata }: Pick<Stripe.Price, "metadata">): number | null {
  return wholeNumber(metadata.assistant_limit) ?? null;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
