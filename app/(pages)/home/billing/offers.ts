import type { Stripe } from "stripe";
import type { Account } from "@/lib/accounts/account";
import { currentLicence, liveOf } from "@/lib/accounts/licence-state";
import { readBilling } from "@/lib/accounts/purchases";
import { amountInWords, readPrice } from "@/lib/billing/prices";
import { settings } from "@/lib/config/settings";
import { readPart } from "../../read-part";

/** A price as the page shows it; `amount` is undefined if only the checkout shows it. */
export type Offer = { priceId: string; name: string; amount: string | undefined };

export type Purchases = NonNullable<Awaited<ReturnType<typeof readPurchases>>>;

/**
 * Reads what an account has bought, with the licence that gives or gave the most and its price; `undefined` where billing
 * is not set up, and if it cannot be read.
 */
export async function readPurchases({ id }: Account, nowMs: number) {
  if (!settings().billing) return undefined;
  return readPart("billing could not be read", async (db) => {
    const bought = await readBilling(db, id);
    const licence = currentLicence(bought.subscriptions);
    const price = licence?.price_id ? await readOffer(licence.price_id, "Licence", nowMs) : undefined;
    return { ...bought, licence, price };
  });
}

export type Offers = Record<"licences" | "credits", Offer[]>;

/** Whether this account may buy credits: they are sold to accounts with a licence. */
export function sellsCreditsTo({ plan }: Account): boolean {
  return plan === "licensed" && (settings().billing?.creditPrices ?? []).length > 0;
}

/** Reads what is sold to the account. */
export async function readOffersTo(account: Account, bought: Purchases, nowMs: number): Promise<Offers> {
  const { licencePrices = [], creditPrices = [] } = settings().billing ?? {};
  const [licences, credits] = await Promise.all([
    account.plan === "licensed" || liveOf(bought.subscriptions).length > 0
      ? []
      : readOffers(licencePrices, "Licence", nowMs),
    sellsCreditsTo(account) ? readOffers(creditPrices, "Credits", nowMs) : [],
  ]);
  return { licences, credits };
}

/** Reads the offers of these prices, without those that are no longer sold. */
export async function readOffers(ids: string[], fallbackName: string, nowMs: number): Promise<Offer[]> {
  const read = await Promise.all(ids.map((id) => readOffer(id, fallbackName, nowMs)));
  return read.filter(({ isSold }) => isSold);
}

/** Reads a price, also one that is no longer sold. */
async function readOffer(priceId: string, fallbackName: string, nowMs: number) {
  const price = await readPrice(priceId, nowMs);
  const name = price?.nickname || (price?.product as Stripe.Product | undefined)?.name || fallbackName;
  return { priceId, name, amount: price && amountInWords(price), isSold: price?.active !== false };
}
