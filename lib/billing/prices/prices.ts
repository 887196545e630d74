import type { Stripe } from "stripe";
import { callStripe, findAtStripe } from "@/lib/billing/stripe/calls";
import { KeptReadings, readForPage } from "@/lib/billing/stripe/kept-readings";
import { priceInWords, shareInWords } from "@/lib/config/money";
import { requireBilling } from "@/lib/http/checks/billing";
import type { ReadPrice } from "@/lib/mail/prices";
import { perProcess } from "@/lib/per-process";

const keptMs = 10 * 60 * 1000; // 10 minutes

const prices = perProcess("prices", () => new KeptReadings<Stripe.Price | undefined>(keptMs));

/** A price as Stripe had it at most ten minutes ago; `undefined` if it has none. Throws while Stripe cannot be asked. */
export function readPrice(id: string, nowMs: number): Promise<Stripe.Price | undefined> {
  const expand = ["product", "currency_options"];
  return prices().read(id, nowMs, () => findAtStripe((stripe) => stripe.prices.retrieve(id, { expand })));
}

/** When the oldest of these prices was made, in Unix milliseconds. Throws while Stripe cannot be asked. */
export async function findOldestPrice(ids: string[], nowMs: number): Promise<number> {
  const prices = await Promise.all(ids.map((id) => readPrice(id, nowMs)));
  return Math.min(nowMs, ...prices.flatMap((price) => (price ? price.created * 1000 : [])));
}

/** What is true of the tax of a price: it is `added` to it or `included`, or there is `none`, as Stripe charges none. */
export type Tax = "added" | "included" | "none";

/** Whether tax is added to a price, as Stripe is set. Throws while Stripe cannot be asked. */
export async function taxOf(
  price: Stripe.Price,
  customersCurrency: string | undefined,
  nowMs: number,
): Promise<Tax> {
  if (!requireBilling().hasTax) return "none";
  const { currency, tax_behavior } = chargedIn(price, customersCurrency);
  return (await addsTax(tax_behavior, currency, nowMs)) ? "added" : "included";
}

/**
 * For example `€49 a month plus tax`, in the currency of a customer who has paid before; `undefined` for a price that
 * depends on the quantity. Throws while Stripe cannot be asked.
 */
export async function amountInWords(
  price: Stripe.Price,
  customersCurrency: string | undefined,
  nowMs: number,
): Promise<string | undefined> {
  const { currency, unit_amount } = chargedIn(price, customersCurrency);
  if (unit_amount === null) return undefined;
  const { interval, interval_count: count = 1 } = price.recurring ?? {};
  const period = interval && (count === 1 ? `a ${interval}` : `every ${count} ${interval}s`);
  const isTaxed = (await taxOf(price, customersCurrency, nowMs)) === "added";
  // Checkout chooses by where the customer is.
  const isOneOfMany = !customersCurrency && Object.keys(price.currency_options ?? {}).length > 1;
  return [
    priceInWords(unit_amount, currency),
    ...(period ? [period] : []),
    ...(isTaxed ? ["plus tax"] : []),
    ...(isOneOfMany ? ["(or in your currency)"] : []),
  ].join(" ");
}

/** A price as {@link amountInWords} writes it; `undefined` if there is none, and while Stripe does not say so in time. */
export function readAmount(id: string, customersCurrency: string | undefined, nowMs: number) {
  const reading = readPrice(id, nowMs);
  return readForPage(reading.then((price) => price && amountInWords(price, customersCurrency, nowMs)));
}

/** A price as mails have it, also the credits of a pack; `undefined` if it is not sold. */
export const readPriceForMail: ReadPrice = async (id, customersCurrency, nowMs) => {
  const amount = await readAmount(id, customersCurrency, nowMs);
  const price = amount === undefined ? undefined : await readPrice(id, nowMs);
  return amount && price?.active ? { amount, credits: creditsOf(price) } : undefined;
};

/** What a price for several months comes to in one: `€82.50 a month`, or `about €83.33 a month` if that is not exact. */
export function monthInWords(price: Stripe.Price, customersCurrency: string | undefined): string | undefined {
  const { currency, unit_amount } = chargedIn(price, customersCurrency);
  const months = monthsOf(price);
  if (unit_amount === null || months <= 1) return undefined;
  return `${shareInWords(unit_amount, months, currency)} a month`;
}

/** What a price is a month, in the currency's smallest unit, for comparison; `undefined` for one that is not for months. */
export function monthlyAmount(
  price: Stripe.Price,
  customersCurrency: string | undefined,
): number | undefined {
  const { unit_amount } = chargedIn(price, customersCurrency);
  const months = monthsOf(price);
  return unit_amount === null || months === 0 ? undefined : unit_amount / months;
}

function monthsOf({ recurring }: Stripe.Price): number {
  const { interval, interval_count = 1 } = recurring ?? {};
  return interval_count * (interval === "year" ? 12 : interval === "month" ? 1 : 0);
}

/** What one of a pack of credits comes to, for example `€0.02`; `undefined` for every other price. */
export function creditInWords(
  price: Stripe.Price,
  customersCurrency: string | undefined,
): string | undefined {
  const { currency, unit_amount } = chargedIn(price, customersCurrency);
  const credits = creditsOf(price);
  return credits && unit_amount !== null ? shareInWords(unit_amount, credits, currency) : undefined;
}

/** The amount of a price, in the customer's currency if it has that. */
export function chargedIn(price: Stripe.Price, customersCurrency: string | null | undefined) {
  const { currency_options: options = {} } = price;
  const currency = customersCurrency && options[customersCurrency] ? customersCurrency : price.currency;
  const { unit_amount, tax_behavior } = options[currency] ?? price;
  return { currency, unit_amount, tax_behavior };
}

const taxDefaults = perProcess("defaults of tax", () => new KeptReadings<string | null>(keptMs));

/** Whether tax is added to a price. One that does not say so follows Stripe's settings. */
async function addsTax(behavior: Stripe.Price.TaxBehavior | null, currency: string, nowMs: number) {
  if (behavior && behavior !== "unspecified") return behavior === "exclusive";
  const byDefault = await taxDefaults().read("default of tax", nowMs, async () => {
    const { defaults } = await callStripe((stripe) => stripe.tax.settings.retrieve());
    return defaults.tax_behavior;
  });
  return byDefault === "inferred_by_currency" ? ["usd", "cad"].includes(currency) : byDefault === "exclusive";
}

/** The whole credits that a one-time price is for, by its metadata; `undefined` if they are not a number. */
export function creditsOf({ metadata }: Pick<Stripe.Price, "metadata">): number | undefined {
  return wholeNumber(metadata.credits) || undefined;
}

/** The limit of assistants that a price's metadata names, as before plans; null if there is none. */
export const limitOf = (metadata: Stripe.Metadata): number | null =>
  wholeNumber(metadata.assistant_limit) ?? null;

/** Whether a price's `assistant_limit`, if it has one, is a whole number. */
export const hasValidLimit = ({ metadata }: Pick<Stripe.Price, "metadata">) =>
  metadata.assistant_limit === undefined || limitOf(metadata) !== null;

function wholeNumber(text: string | undefined): number | undefined {
  return text && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
