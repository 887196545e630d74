import { settings } from "@/lib/config/settings";
import { withTimeout } from "@/lib/runtime/timeout";
import { type Offer, readOffers, readSold } from "../home/billing/offers";

const waitMs = 2000;

/**
 * The prices of licences, as Stripe had them at most ten minutes ago; none without billing. `isWhole` is false while Stripe
 * does not say what all of them are.
 */
export async function readPrices(nowMs: number): Promise<{ prices: Offer[]; isWhole: boolean }> {
  if (!settings().billing) return { prices: [], isWhole: true };
  const reading = readSold().then((sold) => readOffers(sold, "Licence", undefined, nowMs));
  const offers = await withTimeout(waitMs, reading).catch(() => undefined);
  const prices = offers?.filter(({ amount }) => amount !== undefined) ?? [];
  return { prices, isWhole: prices.length === offers?.length };
}

/** What an account costs. */
export function Prices({ prices }: { prices: Offer[] }) {
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">What it costs</h2>
      <ul className="entries">
        <li>
          <strong>Trial</strong> <span>free, ends by itself</span>
        </li>
        {prices.map(({ priceId, name, amount }) => (
          <li key={priceId}>
            <strong>{name}</strong> <span>{amount}</span>
          </li>
        ))}
      </ul>
      <p className="quiet">
        {settings().billing
          ? "You see every price before you pay, and cancel by yourself. Your apps’ own subscriptions are not included."
          : "Nothing can be bought here. Who invites you tells you what comes after the trial."}
      </p>
    </section>
  );
}
