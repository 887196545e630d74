import type { Stripe } from "stripe";
import { limitOf, readPrice } from "@/lib/billing/prices/prices";
import { idOf, requireBilling } from "@/lib/billing/stripe/calls";
import type { Db } from "@/lib/db/store";

/**
 * The items of a subscription that are for a licence: for a price that we sell, or another one of its product. They are
 * remembered with what they contain, so that a price which is no longer sold goes on being a licence for who pays it.
 */
export async function rememberLicenceItems<Item extends Pick<Stripe.SubscriptionItem, "price">>(
  db: Db,
  items: Item[],
  nowMs: number,
): Promise<Item[]> {
  const remembered = await db.selectFrom("billing_licence_prices").selectAll().execute();
  const isSold = await readSold(items, nowMs);
  const found: Item[] = [];
  for (const item of items) {
    const { id, metadata } = item.price;
    const known = remembered.find((price) => price.id === id);
    const assistant_limit = limitOf([{ price: item.price }]);
    if (isSold(item.price)) {
      found.push(item);
      if (!known || known.assistant_limit !== assistant_limit)
        await db
          .insertInto("billing_licence_prices")
          .values({ id, assistant_limit, sold_at_ms: nowMs })
          .onConflict((conflict) => conflict.column("id").doUpdateSet({ assistant_limit }))
          .execute();
    } else if (known) {
      const { assistant_limit: _, ...others } = metadata;
      const contained =
        known.assistant_limit === null ? {} : { assistant_limit: String(known.assistant_limit) };
      found.push({ ...item, price: { ...item.price, metadata: { ...others, ...contained } } });
    }
  }
  return found;
}

/** Remembers the prices that are sold now, so that they stay licences if they leave the settings before anyone has paid them. */
export async function rememberSold(db: Db, nowMs: number): Promise<void> {
  for (const id of requireBilling().licencePrices) {
    const price = await readPrice(id, nowMs);
    if (price) await rememberLicenceItems(db, [{ price }], nowMs);
  }
}

/** Whether a price is in the settings, or of the product of one that is. */
async function readSold(items: Pick<Stripe.SubscriptionItem, "price">[], nowMs: number) {
  const { licencePrices } = requireBilling();
  const isListed = ({ id }: Stripe.Price) => licencePrices.includes(id);
  if (items.every(({ price }) => isListed(price))) return isListed;
  const prices = await Promise.all(licencePrices.map((id) => readPrice(id, nowMs)));
  const products = prices.flatMap((price) => (price ? idOf(price.product) : []));
  return (price: Stripe.Price) => isListed(price) || products.includes(idOf(price.product));
}
