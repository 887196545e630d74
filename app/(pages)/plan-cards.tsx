import type { ReactNode } from "react";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { basePlans, type Contents, type Plan, type Plans, titleOf } from "@/lib/plans/plan";
import type { Offer } from "./home/billing/offers";
import { Icon } from "./icons";

/** A plan with the prices that buy it; a price that is sold without a plan stands alone. */
export type OfferedPlan = { plan: Plan | undefined; offers: Offer[] };

/**
 * The plans with these offers, in their order, and those without any that `shows` chooses. A price without a plan is one that
 * Stripe has not described since it was named in the settings.
 */
export function groupByPlan(plans: Plans, offers: Offer[], shows: (plan: Plan) => boolean): OfferedPlan[] {
  const ofPlans = [...plans.values()].map((plan) => ({
    plan,
    offers: offers.filter((offer) => offer.plan?.name === plan.name),
  }));
  return [
    ...ofPlans.filter(({ plan, offers }) => offers.length > 0 || shows(plan)),
    ...offers.filter(({ plan }) => !plan).map((offer) => ({ plan: undefined, offers: [offer] })),
  ];
}

/** Whether a plan without a price tells a visitor something: the examples on a new store do not. */
export function hasWords({ name, description, features, limits, credit_thousandths, retired_at_ms }: Plan) {
  const contains = Object.keys({ ...features, ...limits }).length > 0 || credit_thousandths > 0;
  const isExample = basePlans.some((base) => base === name);
  return retired_at_ms === null && (contains || (description !== "" && !isExample));
}

/** Features and limits in words: `Voice notes`, `Up to 7 assistants`. */
export function contentsInWords({ plan, features, limits }: Contents, plans: Plans): string[] {
  const titles = Object.assign({}, ...[...plans.values()].map(({ features }) => features));
  Object.assign(titles, plans.get(plan)?.features);
  return [
    ...features.map((name) => titles[name] ?? titleOf(name)),
    ...Object.entries(limits).map(([name, limit]) => limitInWords(name, limit)),
  ];
}

/** A limit in words: `Up to 7 assistants`. */
export function limitInWords(name: string, limit: number | null): string {
  const what = name.replaceAll("-", " ");
  if (limit === null) return `Unlimited ${what}`;
  if (limit === 0) return `No ${what}`;
  if (limit === 1) return plural.test(what) ? `1 ${what.slice(0, -1)}` : `${titleOf(name)}: 1`;
  return `Up to ${limit.toLocaleString("en")} ${what}`;
}

/** A plural that is made with an s and nothing else. */
const plural = /[^aeious]s$/;

type PlanCardProps = OfferedPlan & {
  plans: Plans;
  /** What marks it among the others. */
  tag?: string | undefined;
  /** Whether it is what the reader has. */
  isOwn?: boolean;
  /** What a plan without a price costs. */
  terms?: ReactNode;
  /** What the account has, if that is not what the plan contains. */
  contents?: Contents | undefined;
  /** What can be done about an offer. */
  act?: (offer: Offer) => ReactNode;
  children?: ReactNode;
};

/** What is in a plan, one a line. */
function linesOf({ plan, plans, contents }: PlanCardProps): string[] {
  const credits = toCredits(plan?.credit_thousandths ?? 0);
  const has = contents ?? plan?.contents;
  return [
    ...(has ? contentsInWords(has, plans) : []),
    ...(credits > 0 ? [`${credits.toLocaleString("en")} credits a month`] : []),
  ];
}

/** A plan about which nothing can be done, in one line, which opens. */
export function PlanLine(props: PlanCardProps & { isOpen: boolean }) {
  const { plan, offers, tag, isOwn, terms, isOpen, children } = props;
  const price = terms || offers.map(({ amount = priceAtCheckout }) => amount).join(" or ");
  return (
    <li data-is-own={isOwn || undefined}>
      <details className="fold" open={isOpen}>
        <summary>
          <h3>{offers[0]?.name ?? plan?.title}</h3>
          {tag && <span className="tag">{tag}</span>}
          {price && <b>{price}</b>}
        </summary>
        {plan?.description && <p className="quiet">{plan.description}</p>}
        {children}
        <Lines lines={linesOf(props)} />
      </details>
    </li>
  );
}

/** A plan: what it is for, its prices, and what is in it. */
export function PlanCard(props: PlanCardProps) {
  const { plan, offers, tag, isOwn, terms, act, children } = props;
  const isOneOfSeveral = ({ period }: Offer) =>
    period !== undefined && offers.filter((offer) => offer.period === period).length > 1;
  return (
    <li className="card" data-is-own={isOwn || undefined}>
      <h3>{offers[0]?.name ?? plan?.title}</h3>
      {tag && <span className="tag">{tag}</span>}
      {plan?.description && <p className="quiet">{plan.description}</p>}
      {terms && <p className="price">{terms}</p>}
      {offers.length > 0 && (
        <ul className="prices">
          {offers.map((offer) => (
            <li key={offer.priceId} data-period={offer.period ?? ""}>
              <div>
                {isOneOfSeveral(offer) && <small>{offer.priceName}</small>}
                <OfferPrice {...offer} saving={savingOf(offer, offers)} />
              </div>
              {act?.(offer)}
            </li>
          ))}
        </ul>
      )}
      {children}
      <Lines lines={linesOf(props)} />
    </li>
  );
}

const priceAtCheckout = "Price shown at checkout";

/** What a year saves against twelve months of the same plan, in whole months that are free. */
export function savingOf({ period, perMonth, tax }: Offer, offers: Offer[]): string | undefined {
  const monthly = offers.find((other) => other.period === "1 month" && other.tax === tax)?.perMonth;
  if (period !== "1 year" || perMonth === undefined || !monthly) return undefined;
  const free = Math.floor(12 - (12 * perMonth) / monthly + 1e-6);
  return free > 0 ? `${free} ${free === 1 ? "month" : "months"} free` : undefined;
}

/** Whether tax comes on top of prices, in a sentence; nothing while Stripe does not say so. */
export function taxInWords(offers: readonly Offer[]): string {
  const taxes = new Set(offers.map(({ tax }) => tax));
  if (taxes.has("added")) return "Stripe adds tax where a price says so, and shows the sum before you pay.";
  if (taxes.has("included")) return "Prices include tax.";
  return taxes.has("none") ? "No tax is added." : "";
}

/** What an offer costs, and what that is a month. */
export function OfferPrice({
  amount = priceAtCheckout,
  month,
  saving,
}: Offer & { saving?: string | undefined }) {
  return (
    <>
      <b className="price">{amount}</b>
      {month && (
        <small>
          {" "}
          that is {month}
          {saving && `, ${saving}`}
        </small>
      )}
    </>
  );
}

/** What a plan or an account has, one a line. */
export function Lines({ lines }: { lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <ul className="marked">
      {lines.map((words) => (
        <li key={words}>
          <Icon name="check" />
          {words}
        </li>
      ))}
    </ul>
  );
}
