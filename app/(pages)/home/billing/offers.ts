import type { Stripe } from "stripe";
import type { Account } from "@/lib/accounts/account";
import { readInvoicesOf } from "@/lib/billing/customer/invoices";
import { readDetailsOf } from "@/lib/billing/licence/licence-details";
import { findChangeable, readChangeCost, readChanges } from "@/lib/billing/licence/price-change";
import { readNextPayment } from "@/lib/billing/prices/next-payment";
import {
  amountInWords,
  creditInWords,
  monthInWords,
  monthlyAmount,
  readPrice,
  type Tax,
  taxOf,
} from "@/lib/billing/prices/prices";
import { readForPage } from "@/lib/billing/stripe/kept-readings";
import { priceInWords } from "@/lib/config/money";
import { settings } from "@/lib/config/settings";
import { isDue, payAgain } from "@/lib/plans/entitlement-words";
import { currentLicence, isReplaceable, licenceStateOf } from "@/lib/plans/licence-state";
import type { Plan, Plans } from "@/lib/plans/plan";
import { listPlanPrices, listSold, planOfPrice, type SoldPrice } from "@/lib/plans/plan-prices";
import { readBilling } from "@/lib/plans/purchases";
import type { Standing } from "@/lib/plans/standing";
import { readPart } from "../../read-part";

/** A price as the page shows it, with its plan; `amount` is undefined if only the checkout shows it. */
export type Offer = {
  priceId: string;
  /** That of the plan, or the price's own where there is no plan, or another one has the same title. */
  name: string;
  /** The price's own name. */
  priceName: string;
  amount: string | undefined;
  tax: Tax | undefined;
  /** What a price for several months comes to in one. */
  month: string | undefined;
  /** What one of a pack of credits comes to, for example `€0.02`. */
  credit?: string | undefined;
  /** What it costs a month, in the currency's smallest unit, for comparison. */
  perMonth?: number | undefined;
  /** How often it is paid, for example `1 year`; undefined while Stripe does not say so. */
  period: string | undefined;
  plan: Plan | undefined;
};

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

/** What a licence is called, what is charged for it next, to which card, and how it changes then, as far as Stripe says so in time. */
export async function readTerms(bought: Purchases, plans: Plans, nowMs: number) {
  const { licence } = bought;
  if (!licence) return {};
  const { price_id } = licence;
  const state = licenceStateOf(licence);
  const isCharged =
    ["renews", "free", "returned"].includes(state) ||
    (state === "cancelled" && (licence.ends_at_ms ?? 0) > licence.period_ends_ms);
  const [offers, change, next, details] = await Promise.all([
    readOffersOf([price_id], plans, nowMs),
    state === "change unpaid" ? readUnpaidChange(bought, plans, nowMs) : undefined,
    isCharged ? readNextPayment(licence, nowMs) : undefined,
    isCharged || isDue(state) ? readDetailsOf(licence, nowMs) : undefined,
  ]);
  const offer = offers.get(price_id ?? "");
  const { card, paidIn, scheduled, pause, isChangeable } = details ?? {};
  return {
    name: offer?.name,
    price: offer?.amount,
    period: offer?.period,
    next,
    card,
    paidIn,
    scheduled: scheduled && {
      ...scheduled,
      offer: (await readOffersOf([scheduled.priceId], plans, nowMs)).get(scheduled.priceId),
    },
    pause,
    isChangeable,
    change,
  };
}

/** To which price the licence was changed that is not paid, and what was taken off, if Stripe says so in time. */
async function readUnpaidChange(bought: Purchases, plans: Plans, nowMs: number) {
  const { listed = [] } = (await readInvoicesOf(bought, nowMs)) ?? {};
  const { item, currency } = listed.find(({ status, item }) => status === "open" && item?.isChange) ?? {};
  if (!item || !currency) return undefined;
  return {
    offer: (await readOffersOf([item.priceId], plans, nowMs)).get(item.priceId),
    credit: item.credited > 0 ? priceInWords(item.credited, currency) : undefined,
  };
}

/** What is known of prices that were sold once, by their ids. */
export async function readOffersOf(
  ids: readonly (string | null | undefined)[],
  plans: Plans,
  nowMs: number,
): Promise<Map<string, Offer>> {
  const known = new Set(ids.filter((id) => typeof id === "string"));
  if (known.size === 0) return new Map();
  const prices = await readPart("the plans of prices could not be read", (db) => listPlanPrices(db, plans));
  const offers = [...known].map((id) =>
    readOffer({ id, plan: planOfPrice(prices ?? [], id) }, { plans, fallbackName: "Plan" }, nowMs),
  );
  return new Map((await Promise.all(offers)).map((offer) => [offer.priceId, offer]));
}

/** What is sold: licences, which this account may buy or not, and credits. */
export type Offers = { licences: Offer[]; buysLicences: boolean; credits: Offer[] };

/** Whether this account may buy credits: they are sold to accounts with a licence that stay. */
export function sellsCreditsTo({ plan, deletes_at_ms }: Account): boolean {
  return plan === "licensed" && deletes_at_ms === null && (settings().billing?.creditPrices ?? []).length > 0;
}

/** Reads what is sold, with the prices that this account pays. */
export async function readOffersTo(
  account: Account,
  bought: Purchases,
  plans: Plans,
  nowMs: number,
): Promise<Offers> {
  const creditPrices = (settings().billing?.creditPrices ?? []).map((id) => ({ id, plan: undefined }));
  const currency = currencyOf(bought);
  const [licences, credits] = await Promise.all([
    readOffers((await readSold(plans)) ?? [], { plans, currency, fallbackName: "Plan" }, nowMs),
    sellsCreditsTo(account)
      ? readOffers(creditPrices, { plans, currency, fallbackName: "Credits" }, nowMs)
      : [],
  ]);
  const buysLicences =
    licences.length > 0 && account.deletes_at_ms === null && bought.subscriptions.every(isReplaceable);
  return { licences, buysLicences, credits };
}

/** To which of the offers the owner may change the licence, and what the `chosen` one costs. */
export type Changes = { offers: Offer[]; offer?: Offer; cost?: Awaited<ReturnType<typeof readChangeCost>> };

/** Reads to which prices the owner may change the licence, and what the `chosen` one costs. */
export async function readChangesOf(
  bought: Purchases,
  { licences }: Offers,
  { chosen, isChangeable = true }: { chosen: string | undefined; isChangeable?: boolean | undefined },
  nowMs: number,
): Promise<Changes> {
  const licence = findChangeable(bought.subscriptions);
  if (!licence || !isChangeable) return { offers: [] };
  const sold = licences.map(({ priceId, plan }) => ({ id: priceId, plan }));
  const others = await readChanges(licence, sold, nowMs);
  const offers = licences.filter(({ priceId }) => others.some(({ id }) => id === priceId));
  const offer = offers.find(({ priceId }) => priceId === chosen);
  return offer ? { offers, offer, cost: await readChangeCost(licence, offer.priceId, nowMs) } : { offers };
}

/** The offer of the price that a licence had, if it may be bought again. */
export const findAgain = (bought: Purchases | undefined, offers: Offers | undefined) =>
  offers?.buysLicences
    ? offers.licences.find(({ priceId }) => priceId === bought?.licence?.price_id)
    : undefined;

/** A state in which an owner pays again what was returned, with its price. */
export const payingAgain = ({ step, ...standing }: Standing, { amount }: Offer): Standing => ({
  ...standing,
  step: step?.words === payAgain && amount ? { ...step, words: `${payAgain}: ${amount}` } : step,
});

/** The currency in which Stripe charges a customer who has paid before. */
const currencyOf = ({ subscriptions }: Purchases) =>
  subscriptions.find(({ currency }) => currency)?.currency ?? undefined;

/** The prices that are sold as licences; `undefined` while the store is away. */
const readSold = (plans: Plans) => readPart("the prices could not be read", (db) => listSold(db, plans));

/** Whether any plan is sold here. While that cannot be read, one is. */
export async function sellsPlans(plans: Plans, nowMs: number): Promise<boolean> {
  const sold = await readSold(plans);
  return !sold || (await readOffers(sold, { plans, fallbackName: "Plan" }, nowMs)).length > 0;
}

type Shown = { plans: Plans; fallbackName: string; currency?: string | undefined };

/** Reads the offers of these prices, without those that are no longer sold. */
export async function readOffers(prices: SoldPrice[], shown: Shown, nowMs: number): Promise<Offer[]> {
  const read = await Promise.all(prices.map((price) => readOffer(price, shown, nowMs)));
  return read.filter(({ isSold }) => isSold);
}

/** Reads a price, also one that is no longer sold. */
async function readOffer(
  { id: priceId, plan }: SoldPrice,
  { plans, fallbackName, currency }: Shown,
  nowMs: number,
) {
  const reading = readPrice(priceId, nowMs);
  const [price, amount, tax] = await Promise.all([
    readForPage(reading),
    readForPage(reading.then((price) => price && amountInWords(price, currency, nowMs))),
    readForPage(reading.then((price) => price && taxOf(price, currency, nowMs))),
  ]);
  const ownName = price?.nickname || (price?.product as Stripe.Product | undefined)?.name;
  const isAlone = [...plans.values()].filter(({ title }) => title === plan?.title).length === 1;
  const { interval, interval_count } = price?.recurring ?? {};
  return {
    priceId,
    name: (isAlone ? plan?.title : (ownName ?? plan?.title)) ?? fallbackName,
    priceName: ownName ?? fallbackName,
    amount,
    tax,
    month: price && monthInWords(price, currency),
    credit: price && creditInWords(price, currency),
    perMonth: price && monthlyAmount(price, currency),
    period: interval && `${interval_count} ${interval}`,
    plan,
    isSold: price?.active !== false,
  };
}
