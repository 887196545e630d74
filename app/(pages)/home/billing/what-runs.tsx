import type { Card } from "@/lib/billing/customer/card";
import type { NextPayment } from "@/lib/billing/prices/next-payment";
import { dayMs } from "@/lib/config/durations";
import { moneyInWords } from "@/lib/config/money";
import { type Licence, licenceStateOf } from "@/lib/plans/licence-state";
import { Clock } from "../../clock";

type WhatRunsProps = {
  licence: Licence;
  name?: string | undefined;
  limit?: number | null;
  next: NextPayment;
  card?: Card | undefined;
};

/** A licence that renews, in one row: what it is, when it renews, for how much, and from which card. */
export function WhatRuns({
  licence,
  name,
  limit,
  next: { amount, tax, currency, atMs },
  card,
}: WhatRunsProps) {
  const isAtRenewal = Math.abs(atMs - licence.period_ends_ms) < dayMs;
  return (
    <dl className="what-runs">
      {name && (
        <div>
          <dt>Plan</dt>
          <dd>
            {name} {limit != null && <small>Up to {limit} assistants</small>}
          </dd>
        </div>
      )}
      <div>
        <dt>{licenceStateOf(licence) === "free" ? "Free until" : "Renews on"}</dt>
        <dd>
          <Clock atMs={licence.period_ends_ms} shows="date" />
        </dd>
      </div>
      <div>
        <dt>{isAtRenewal ? "Amount" : "Next payment"}</dt>
        <dd>
          {amount > 0 ? moneyInWords(amount, currency) : "Nothing"}{" "}
          {tax > 0 && <small>{moneyInWords(tax, currency)} of it tax</small>}
          {!isAtRenewal && (
            <small>
              on <Clock atMs={atMs} shows="date" />
            </small>
          )}
        </dd>
      </div>
      {card && amount > 0 && (
        <div>
          <dt>Card</dt>
          <dd>
            {titleCase(card.brand)} <small>ending in {card.last4}</small>
          </dd>
        </div>
      )}
    </dl>
  );
}

/** `American Express` of Stripe's `american_express`. */
const titleCase = (brand: string) =>
  brand.replaceAll("_", " ").replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
