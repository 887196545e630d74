import type { Stripe } from "stripe";
import type { Account } from "@/lib/accounts/account";
import { findChangeable, readChangeCost, readChanges } from "@/lib/billing/licence/price-change";
import { listSold, type SoldPrice } from "@/lib/billing/prices/licence-prices";
import { readNextPayment } from "@/lib/billing/prices/next-payment";
import { amountInWords, readPrice } from "@/lib/billing/prices/prices";
import { readForPage } from "@/lib/billing/stripe/kept-readings";
import { settings } from "@/lib/config/settings";
import { currentLicence, isReplaceable, licenceStateOf } from "@/lib/plans/licence-state";
import { type Plan, readPlans } from "@/lib/plans/plan";
import { listPlanPrices } from "@/lib/plans/plan-prices";
import { readBilling } from "@/lib/plans/purchases";
import { readPart } from "../../read-part";

/** A price as the page shows it, with its plan; `amount` is undefined if only the checkout shows it. */
export type Offer = { priceId: string; name: string; amount: string | undefined; plan: Plan | undefined };

export type Purchases = NonNullable<Awaited<ReturnType<typeof readPurchases>>>;

/**
 * Reads what an account has bought, with the licence that gives or gave the most; `undefined` where billing is not set up,
 * and if it cannot be read.
 */
export async function readPurchases({ id }: Account) {
  if (!settings().billing) return undefined;
  return readPart("billing could not be read", async (db) => {
    const bought = await readBilling(db, id);
    return { ...bought, licence: currentLicence(bought.subscriptions) };
  });
}

/** The name of a licence, and what Stripe will charge for it next, as far as Stripe says so in time. */
export async function readTerms({ licence }: Purchases, nowMs: number) {
  if (!licence) return {};
  const { price_id, assistant_limit } = licence;
  const plan = await readPart(
    "the plan of a licence could not be read",
    async (db) => (await listPlanPrices(db, await readPlans(db))).find(({ id }) => id === price_id)?.plan,
  );
  const [offer, next] = await Promise.all([
    price_id ? readOffer({ id: price_id, plan }, "Licence", undefined, nowMs) : undefined,
    ["renews", "free"].includes(licenceStateOf(licence)) ? readNextPayment(licence, nowMs) : undefined,
  ]);
  return { name: offer?.name, next, limit: assistant_limit ?? plan?.limits.assistants ?? null };
}

export type Offers = Record<"licences" | "credits", Offer[]>;

/** Whether this account may buy credits: they are sold to accounts with a licence that stay. */
export function sellsCreditsTo({ plan, deletes_at_ms }: Account): boolean {
  return plan === "licensed" && deletes_at_ms === null && (settings().billing?.creditPrices ?? []).length > 0;
}

/** Reads what is sold to the account. */
export async function readOffersTo(account: Account, bought: Purchases, nowMs: number): Promise<Offers> {
  const creditPrices = (settings().billing?.creditPrices ?? []).map((id) => ({ id, plan: undefined }));
  const currency = currencyOf(bought);
  const [licences, credits] = await Promise.all([
    account.deletes_at_ms !== null || !bought.subscriptions.every(isReplaceable)
      ? []
      : readOffers(await readSold(), "Licence", currency, nowMs),
    sellsCreditsTo(account) ? readOffers(creditPrices, "Credits", currency, nowMs) : [],
  ]);
  return { licences, credits };
}

export type Changes = Awaited<ReturnType<typeof readChangesOf>>;

/**
 * Reads to which prices the owner may change the licence, and what the `chosen` one costs.
 */
export async function readChangesOf(bought: Purchases, chosen: string | undefined, nowMs: number) {
  const licence = findChangeable(bought.subscriptions);
  if (!licence) return undefined;
  const others = await readChanges(licence, await readSold(), nowMs);
  const offers = await readOffers(others, "Licence", currencyOf(bought), nowMs);
  const offer = offers.find(({ priceId }) => priceId === chosen);
  const cost = offer && (await readChangeCost(licence, offer.priceId, nowMs));
  return { offers, offer, cost };
}

/** The currency in which Stripe charges a customer who has paid before. */
const currencyOf = ({ subscriptions }: Purchases) =>
  subscriptions.find(({ currency }) => currency)?.currency ?? undefined;

/** The prices that are sold as licences; none while the store is away. */
export const readSold = async () => (await readPart("the prices could not be read", listSold)) ?? [];

/** Reads the offers of these prices, without those that are no longer sold. */
export async function readOffers(
  prices: SoldPrice[],
  fallbackName: string,
  currency: string | undefined,
  nowMs: number,
): Promise<Offer[]> {
  const read = await Promise.all(prices.map((price) => readOffer(price, fallbackName, currency, nowMs)));
  return read.filter(({ isSold }) => isSold);
}

/** Reads a price, also one that is no longer sold. */
async function readOffer(
  { id: priceId, plan }: SoldPrice,
  fallbackName: string,
  currency: string | undefined,
  nowMs: number,
) {
  const reading = readPrice(priceId, nowMs);
  const [price, amount] = await Promise.all([
    readForPage(reading),
    readForPage(reading.then((price) => price && amountInWords(price, currency, nowMs))),
  ]);
  const name = price?.nickname || (price?.product as Stripe.Product | undefined)?.name || fallbackName;
  return { priceId, name, amount, plan, isSold: price?.active !== false };
}
