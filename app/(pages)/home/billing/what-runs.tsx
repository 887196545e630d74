import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { Card } from "@/lib/billing/customer/card";
import type { NextPayment } from "@/lib/billing/prices/next-payment";
import { dayMs } from "@/lib/config/durations";
import { moneyInWords } from "@/lib/config/money";
import { isDue, type LicenceState } from "@/lib/plans/entitlement-words";
import { describeDue, endOf, type Licence, licenceStateOf, paymentDay } from "@/lib/plans/licence-state";
import type { Contents, Plans } from "@/lib/plans/plan";
import type { Standing } from "@/lib/plans/standing";
import { Clock } from "../../clock";
import { limitInWords } from "../../plan-cards";
import type { Purchases } from "./offers";

/** What is known of a licence at Stripe. */
export type Terms = {
  name?: string | undefined;
  next?: NextPayment | undefined;
  card?: Card | undefined;
  limit?: number | null;
};

/** The licence that the words about an account are about: one that runs, or for whose sake the company is stopped. */
export function licenceThatCounts(account: Account, bought: Purchases | undefined, { mayRun }: Standing) {
  const { licence } = bought ?? {};
  if (!licence || licence.licence_until_ms > 0) return licence;
  const end = endOf(account, licence);
  return !mayRun && (end.what === "licence" || end.isUnfinished) ? licence : undefined;
}

type LicenceFactsProps = { account: Account; licence: NonNullable<Purchases["licence"]>; terms: Terms };

/** A licence in one row: what it is, for how much until when, or what is due of it by when, and from which card. */
export function LicenceFacts({ account, licence, terms }: LicenceFactsProps) {
  const { name, limit, next, card } = terms;
  const state = licenceStateOf(licence);
  const { deletes_at_ms } = account;
  const endsWithAccount =
    deletes_at_ms !== null && deletes_at_ms < licence.period_ends_ms && ["renews", "free"].includes(state);
  return (
    <dl className="what-runs">
      {name && (
        <Fact
          name={state === "unfinished" ? "You chose" : planName(licence.licence_until_ms > 0)}
          note={limit != null && limitInWords("assistants", limit)}
        >
          {name}
        </Fact>
      )}
      {endsWithAccount ? (
        <Fact name="Ends on" note="with your account, and is not charged again">
          <Clock atMs={deletes_at_ms} shows="date" />
        </Fact>
      ) : next && state !== "returned" ? (
        <Renewal licence={licence} next={next} />
      ) : (
        <Day licence={licence} next={next} />
      )}
      {card && !endsWithAccount && next?.amount !== 0 && (
        <Fact name="Card" note={`ending in ${card.last4}`}>
          {titleCase(card.brand)}
        </Fact>
      )}
    </dl>
  );
}

const planName = (runs: boolean) => (runs ? "Plan" : "Last plan");

type PlanFactsProps = {
  account: Account;
  /** The plan, where nothing else on the page names it. */
  own?: { contents: Contents; plans: Plans };
  nowMs: number;
};

/** A plan that no licence gives, in one row: what it is, and until when it is free. */
export function PlanFacts({ account, own, nowMs }: PlanFactsProps) {
  const { plan, trial_ends_at_ms, given_ends_at_ms } = account;
  const assistants = own?.contents.limits.assistants;
  const isTrial = plan === "trial";
  const hasEnded = isTrial && trial_ends_at_ms <= nowMs;
  const endMs = isTrial ? trial_ends_at_ms : given_ends_at_ms;
  return (
    <dl className="what-runs">
      {own && (
        <Fact name={planName(!hasEnded)} note={assistants != null && limitInWords("assistants", assistants)}>
          {own.plans.get(own.contents.plan)?.title}
        </Fact>
      )}
      {!hasEnded && (
        <Fact name="Price" note={plan === "licensed" && "given to you by us"}>
          Free
        </Fact>
      )}
      <Fact name={hasEnded ? "Ended on" : isTrial ? "Free until" : "Ends on"}>
        {endMs === null ? "No end" : <Clock atMs={endMs} shows="date" />}
      </Fact>
    </dl>
  );
}

type RenewalProps = { licence: Licence; next: NextPayment };

function Renewal({ licence, next: { amount, tax, currency, atMs } }: RenewalProps) {
  const isFree = licenceStateOf(licence) === "free";
  const isAtRenewal = Math.abs(atMs - licence.period_ends_ms) < dayMs;
  return (
    <>
      <Fact name={isFree ? "Free until" : "Renews on"}>
        <Clock atMs={licence.period_ends_ms} shows="date" />
      </Fact>
      <Fact
        name={isFree ? "First payment" : isAtRenewal ? "Amount" : "Next payment"}
        note={
          <>
            {tax > 0 && `${moneyInWords(tax, currency)} of it tax `}
            {(isFree || !isAtRenewal) && (
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

/** What is due of a licence, when Stripe tries again, and what happens on which day. */
function Day({ licence, next }: Pick<LicenceFactsProps, "licence"> & Pick<Terms, "next">) {
  const state = licenceStateOf(licence);
  const [sum, inInvoices] = describeDue(licence)?.split(/ (?=in \d+ invoices)/) ?? [];
  const { day, note } = days[state] ?? {};
  return (
    <>
      {sum && (
        <Fact name="Amount due" note={inInvoices ?? (state === "change unpaid" && "for the change")}>
          {sum}
        </Fact>
      )}
      {isDue(state) && licence.next_attempt_ms !== null && (
        <Fact name="Next attempt" note="Stripe charges your card by itself">
          <Clock atMs={licence.next_attempt_ms} shows="date" />
        </Fact>
      )}
      {day && (
        <Fact name={day} note={note}>
          <Clock atMs={paymentDay(licence) ?? licence.period_ends_ms} shows="date" />
        </Fact>
      )}
      {state === "returned" && (
        <Fact
          name="Charged again on"
          note={`${next ? `${moneyInWords(next.amount, next.currency)}, ` : ""}unless you end it at Stripe`}
        >
          <Clock atMs={licence.period_ends_ms} shows="date" />
        </Fact>
      )}
    </>
  );
}

const stops = "Assistants stop on";

/** What happens on the day that is shown of a licence, and what does not stop it. Elsewhere the heading has the day. */
const days: Partial<Record<LicenceState, { day: string; note?: string }>> = {
  renews: { day: "Renews on" },
  free: { day: "Free until", note: "the first payment is due then" },
  cancelled: { day: "Ends on", note: "nothing more is charged" },
  "past due": { day: stops, note: "if the card keeps failing" },
  overdue: { day: stops, note: "if the invoice stays unpaid" },
  "change unpaid": { day: stops, note: "if the change stays unpaid" },
  "trial unpaid": { day: stops, note: "if no card pays" },
  "due beside a gift": { day: "Ends on", note: "if it stays unpaid" },
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
