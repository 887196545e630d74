import type { ReactNode } from "react";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { askUs } from "@/lib/config/contact";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { type Plans, readPlans } from "@/lib/plans/plan";
import { listSold } from "@/lib/plans/plan-prices";
import { withTimeout } from "@/lib/runtime/timeout";
import { type Offer, readOffers } from "../home/billing/offers";
import { withMailLink } from "../home/check-result";
import { groupByPlan, hasWords, PlanCard, taxInWords } from "../plan-cards";
import { readPart } from "../read-part";

type Sold = { plans: Plans; offers: Offer[]; packs: Offer[]; isWhole: boolean };

/**
 * The plans, with their prices as Stripe had them at most ten minutes ago; none without billing. `isWhole` is false while the
 * store or Stripe does not say what all of them are.
 */
export async function readPrices(nowMs: number): Promise<Sold> {
  const reading = readPart("the plans could not be read", async (db) => {
    const plans = await readPlans(db);
    return { plans, sold: settings().billing ? await listSold(db, plans) : [] };
  });
  const read = await withTimeout(answersWithinMs.store, reading).catch(() => undefined);
  if (!read) return { plans: new Map(), offers: [], packs: [], isWhole: false };
  const { plans, sold } = read;
  const creditPrices = (settings().billing?.creditPrices ?? []).map((id) => ({ id, plan: undefined }));
  const [all, packs] = await Promise.all([
    readOffers(sold, { plans, fallbackName: "Plan" }, nowMs),
    readOffers(creditPrices, { plans, fallbackName: "Credits" }, nowMs),
  ]);
  const offers = all.filter(({ plan, amount }) => plan || amount !== undefined);
  return { plans, offers, packs, isWhole: [...all, ...packs].every(({ amount }) => amount !== undefined) };
}

/** What an account costs, and what is in it. With the trial, where everyone begins, stands how to `begin`. */
export function Prices({ plans, offers, packs, begin }: Sold & { begin: ReactNode }) {
  const sellsLicences = settings().billing !== undefined;
  const shown = groupByPlan(
    plans,
    offers,
    (plan) => plan.name === "trial" || (hasWords(plan) && (plan.name === "hobby" || !sellsLicences)),
  );
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">What it costs</h2>
      <p className="lead">
        Everyone begins with the trial.{" "}
        {sellsLicences
          ? "Nothing is charged until you buy a plan, once you are signed in."
          : withMailLink(`Plans aren’t sold on this site: for one, ${askUs()}.`)}
      </p>
      {shown.length === 0 && <p>We cannot show the plans at the moment.</p>}
      <ul className="plans">
        {shown.map(({ plan, offers }) => (
          <PlanCard
            key={plan?.name ?? offers[0]?.priceId}
            {...{ plan, offers, plans }}
            tag={plan?.name === "trial" ? "You begin here" : undefined}
            terms={plan && free[plan.name]}
          >
            {plan?.name === "trial" ? begin : plan?.name === "hobby" && <HowToGet />}
          </PlanCard>
        ))}
      </ul>
      {packs.some(({ amount }) => amount) && (
        <p>
          <strong>More credits</strong>, with a paid plan:{" "}
          {packs
            .filter(({ amount }) => amount)
            .map(
              ({ name, amount, credit }) =>
                `${name} for ${amount}${credit ? `, that is ${credit} each` : ""}`,
            )
            .join("; ")}
          .
        </p>
      )}
      <p className="quiet">
        The trial ends by itself; your invitation may give it more days.{" "}
        {sellsLicences && `${taxInWords(offers)} You cancel by yourself, at any time.`}
      </p>
    </section>
  );
}

/** What it costs, in a line: the trial, and one of the plans after it. */
export function PricesInShort({ offers }: Pick<Sold, "offers">) {
  const [example] = offers.filter(({ period, amount }) => period === "1 month" && amount);
  return (
    <p className="in-short">
      <strong>{free.trial}.</strong>{" "}
      {example && `Then a plan, for example ${example.name} for ${example.amount}. `}
      <a href="#prices">{example ? "All prices" : "What it costs"}</a>
    </p>
  );
}

/** How one comes to the plan that no one buys: it is given, or what is left of a plan that has ended. */
function HowToGet() {
  const { billing } = settings();
  if (!billing) return null;
  return (
    <p className="actions quiet">
      <span>
        {billing.lapsedPlan === "hobby"
          ? "Yours when a plan that you bought ends."
          : withMailLink(`We give it: ${askUs()}.`)}
      </span>
    </p>
  );
}

/** The plans that cost nothing. */
const free: Record<string, string | undefined> = {
  trial: `${defaultTrialDays} days free, no card`,
  hobby: "Free",
};
