import type { Stripe } from "stripe";
import { findAtStripe, idOf, requireBilling } from "@/lib/billing/stripe";
import { moneyInWords } from "@/lib/config/money";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";

const keptMs = 10 * 60 * 1000; // 10 minutes
const retryAfterMs = 30_000; // 30 seconds, so that no page waits for Stripe each time

type Kept = { price: Promise<Stripe.Price | undefined>; untilMs: number };

const kept = () => processSingleton("prices", () => new Map<string, Kept>());

/** A price with its product, as Stripe had it at most ten minutes ago; `undefined` while Stripe cannot be asked. */
export function readPrice(id: string, nowMs: number): Promise<Stripe.Price | undefined> {
  return askForPrice(id, nowMs).catch(() => undefined);
}

/** The same, but it throws while Stripe cannot be asked; `undefined` if Stripe has no such price. */
function askForPrice(id: string, nowMs: number): Promise<Stripe.Price | undefined> {
  const known = kept().get(id);
  if (known && nowMs < known.untilMs) return known.price;
  const price = findAtStripe((stripe) => stripe.prices.retrieve(id, { expand: ["product"] }));
  const reading: Kept = { untilMs: nowMs + keptMs, price };
  price.catch((failure) => {
    log().warn({ err: failure, price: id }, "a price could not be read");
    reading.untilMs = nowMs + retryAfterMs;
  });
  kept().set(id, reading);
  return price;
}

/** The items of a subscription that are for a licence: for a price that we sell, or another one of its product. */
export async function findLicenceItems(
  { items: { data } }: Stripe.Subscription,
  nowMs: number,
): Promise<Stripe.SubscriptionItem[]> {
  const { licencePrices } = requireBilling();
  if (data.every(({ price }) => licencePrices.includes(price.id))) return data;
  const prices = await Promise.all(licencePrices.map((id) => askForPrice(id, nowMs)));
  const products = prices.flatMap((price) => (price ? idOf(price.product) : []));
  return data.filter(
    ({ price }) => licencePrices.includes(price.id) || products.includes(idOf(price.product)),
  );
}

/** For example `€49.00 a month`; `undefined` for a price that depends on the quantity. */
export function amountInWords({ unit_amount, currency, recurring }: Stripe.Price): string | undefined {
  if (unit_amount === null) return undefined;
  const amount = moneyInWords(unit_amount, currency);
  if (!recurring) return amount;
  const { interval, interval_count: count } = recurring;
  return `${amount} ${count === 1 ? `a ${interval}` : `every ${count} ${interval}s`}`;
}

/** The whole credits that a one-time price is for, by its metadata; `undefined` if they are not a number. */
export function creditsOf({ metadata }: Pick<Stripe.Price, "metadata">): number | undefined {
  return wholeNumber(metadata.credits) || undefined;
}

/** The limit of assistants that comes with a licence, by its prices and how many of each; null if there is none. */
export function limitOf(items: Pick<Stripe.SubscriptionItem, "price" | "quantity">[]): number | null {
  const limits = items.map(({ price, quantity = 1 }) => {
    const limit = wholeNumber(price.metadata.assistant_limit);
    return limit === undefined ? Number.POSITIVE_INFINITY : limit * quantity;
  });
  const sum = limits.reduce((all, limit) => all + limit, 0);
  return Number.isSafeInteger(sum) ? sum : null;
}

/** Whether a price's `assistant_limit`, if it has one, is a whole number. */
export function hasValidLimit({ metadata }: Pick<Stripe.Price, "metadata">): boolean {
  return metadata.assistant_limit === undefined || wholeNumber(metadata.assistant_limit) !== undefined;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
