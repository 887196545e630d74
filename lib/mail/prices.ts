import type { ExpressionBuilder } from "kysely";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { listSold } from "@/lib/plans/plan-prices";

/**
 * Reads a price for a mail: its amount, for example `€49 a month`, in the currency of a customer who has paid before, and the
 * credits of a pack. `undefined` if it is not sold, or while Stripe does not say so in time.
 */
export type ReadPrice = (
  id: string,
  currency: string | undefined,
  nowMs: number,
) => Promise<{ amount: string; credits: number | undefined } | undefined>;

/** Where no mail names a price. */
export const noPrice: ReadPrice = async () => undefined;

/** The currency of an account that has paid before. */
export const currencyOf = ({ selectFrom }: ExpressionBuilder<Tables, "accounts">) =>
  selectFrom("billing_subscriptions")
    .select("currency")
    .whereRef("account_id", "=", "accounts.id")
    .where("currency", "is not", null)
    .limit(1)
    .as("currency");

type Reader = { readPrice: ReadPrice; currency?: string | null | undefined; nowMs: number };

/** The plans that are sold: `Office €49 a month or €490 a year, Team €99 a month`; `undefined` if no price is known. */
export async function plansInWords(db: Db, { readPrice, currency, nowMs }: Reader) {
  if (!settings().billing) return undefined;
  const sold = await Promise.all(
    (await listSold(db)).map(async ({ id, plan }) => {
      const price = await readPrice(id, currency ?? undefined, nowMs);
      return price ? [{ title: plan?.title, amount: price.amount }] : [];
    }),
  );
  const byTitle = Map.groupBy(sold.flat(), ({ title }) => title);
  const words = [...byTitle].map(([title, offers]) =>
    [title, offers.map(({ amount }) => amount).join(" or ")].filter(Boolean).join(" "),
  );
  return words.join(", ") || undefined;
}

/** The packs that are sold: `500 credits for €10`; `undefined` if no price is known. */
export async function packsInWords(reader: Reader): Promise<string | undefined> {
  const ids = settings().billing?.creditPrices ?? [];
  const packs = await Promise.all(ids.map((id) => packInWords(id, reader)));
  return packs.filter(Boolean).join(", ") || undefined;
}

/** A pack, if its price is known. */
export async function packInWords(id: string, { readPrice, currency, nowMs }: Reader) {
  const pack = await readPrice(id, currency ?? undefined, nowMs);
  return pack?.credits ? `${pack.credits.toLocaleString("en")} credits for ${pack.amount}` : undefined;
}
