import type { ReactNode } from "react";
import type { Card } from "@/lib/billing/customer/card";
import type { NextPayment } from "@/lib/billing/prices/next-payment";
import { dayMs } from "@/lib/config/durations";
import { moneyInWords } from "@/lib/config/money";
import type { DueState, LicenceState } from "@/lib/plans/entitlement-words";
import { describeDue, type Licence, licenceStateOf } from "@/lib/plans/licence-state";
import { Clock } from "../../clock";
import type { Purchases } from "./offers";

type WhatRunsProps = {
  licence: NonNullable<Purchases["licence"]>;
  name?: string | undefined;
  limit?: number | null | undefined;
  /** Of a licence that renews. */
  next?: NextPayment | undefined;
  card?: Card | undefined;
};

/** A licence in one row: what it is, for how much until when, or what is due of it by when, and from which card. */
export function WhatRuns({ licence, name, limit, next, card }: WhatRunsProps) {
  return (
    <dl className="what-runs">
      {name && (
        <Fact name="Plan" note={limit != null && `Up to ${limit} assistants`}>
          {name}
        </Fact>
      )}
      {next ? <Renewal licence={licence} next={next} /> : <Due licence={licence} />}
      {card && next?.amount !== 0 && (
        <Fact name="Card" note={`ending in ${card.last4}`}>
          {titleCase(card.brand)}
        </Fact>
      )}
    </dl>
  );
}

function Renewal({
  licence,
  next: { amount, tax, currency, atMs },
}: {
  licence: Licence;
  next: NextPayment;
}) {
  const isAtRenewal = Math.abs(atMs - licence.period_ends_ms) < dayMs;
  return (
    <>
      <Fact name={licenceStateOf(licence) === "free" ? "Free until" : "Renews on"}>
        <Clock atMs={licence.period_ends_ms} shows="date" />
      </Fact>
      <Fact
        name={isAtRenewal ? "Amount" : "Next payment"}
        note={
          <>
            {tax > 0 && `${moneyInWords(tax, currency)} of it tax `}
            {!isAtRenewal && (
              <>
                on <Clock atMs={atMs} shows="date" />
              </>
            )}
          </>
        }
      >
        {amount > 0 ? moneyInWords(amount, currency) : "Nothing"}
      </Fact>
    </>
  );
}

/** A licence that is not paid, or that is paid by an invoice: what is due, and what happens on which day. */
function Due({ licence }: Pick<WhatRunsProps, "licence">) {
  const [sum, inInvoices] = describeDue(licence)?.split(/ (?=in \d+ invoices)/) ?? [];
  const state = licenceStateOf(licence);
  if (!isOwed(state)) return null;
  const { ends_at_ms, period_ends_ms, unpaid_since_ms } = licence;
  const { day, unless } = owed[state];
  return (
    <>
      {sum && (
        <Fact name="Amount due" note={inInvoices}>
          {sum}
        </Fact>
      )}
      <Fact name={day} note={unless}>
        <Clock atMs={(state === "invoiced" ? unpaid_since_ms : ends_at_ms) ?? period_ends_ms} shows="date" />
      </Fact>
    </>
  );
}

type OwedState = DueState | "invoiced";

/** Whether the sum of a licence, and the day by which it is paid, are facts of `WhatRuns`. */
export const isOwed = (state: LicenceState | undefined): state is OwedState =>
  state !== undefined && Object.hasOwn(owed, state);

const stops = "Your company stops on";

/** What happens on the day by which a licence is to be paid, and what does not stop it. */
const owed: Record<OwedState, { day: string; unless?: string }> = {
  invoiced: { day: "Due on" },
  "past due": { day: stops, unless: "if the card keeps failing" },
  overdue: { day: stops, unless: "if the invoice stays unpaid" },
  "change unpaid": { day: stops, unless: "if the change stays unpaid" },
  "trial unpaid": { day: stops, unless: "if no card pays" },
};

function Fact({ name, note, children }: { name: string; note?: ReactNode; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children} {note && <small>{note}</small>}
      </dd>
    </div>
  );
}

/** `American Express` of Stripe's `american_express`. */
const titleCase = (brand: string) =>
  brand.replaceAll("_", " ").replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
