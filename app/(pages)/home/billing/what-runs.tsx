import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { Card, LicenceDetails } from "@/lib/billing/licence/licence-details";
import type { NextPayment } from "@/lib/billing/prices/next-payment";
import { dayMs } from "@/lib/config/durations";
import { priceInWords } from "@/lib/config/money";
import { isNotBegun, type LicenceState } from "@/lib/plans/entitlement-words";
import { describeDue, endOf, type Licence, licenceStateOf, paymentDay } from "@/lib/plans/licence-state";
import type { Contents, Plans } from "@/lib/plans/plan";
import type { Standing } from "@/lib/plans/standing";
import { Clock } from "../../clock";
import { limitInWords } from "../../plan-cards";
import { leftInWords } from "../trial-left";
import type { Offer, Purchases } from "./offers";

/** What is known of a licence at Stripe. */
export type Terms = {
  name?: string | undefined;
  /** For example `€49 a month`. */
  price?: string | undefined;
  /** How often it is paid, for example `1 year`. */
  period?: string | undefined;
  next?: NextPayment | undefined;
  card?: Card | undefined;
  /** What it changes to on a day. */
  scheduled?: (NonNullable<LicenceDetails["scheduled"]> & { offer: Offer | undefined }) | undefined;
  /** Whether the portal may give it another price. */
  isChangeable?: boolean | undefined;
  limit?: number | null;
  /** What a change that is not paid leads to. */
  change?: { offer?: Offer | undefined; credit?: string | undefined } | undefined;
};

/** The licence that the words about an account are about: one that runs, or for whose sake the company is stopped. */
export function licenceThatCounts(account: Account, bought: Purchases | undefined, { mayRun }: Standing) {
  const { licence } = bought ?? {};
  if (!licence || licence.licence_until_ms > 0) return licence;
  const end = endOf(account, licence);
  return !mayRun && (end.what === "licence" || end.beside) ? licence : undefined;
}

type LicenceFactsProps = { account: Account; licence: NonNullable<Purchases["licence"]>; terms: Terms };

/** A licence in one row: what it is, for how much until when, or what is due of it by when, and from which card. */
export function LicenceFacts({ account, licence, terms }: LicenceFactsProps) {
  const { name, limit, price, period, next, card, change, scheduled } = terms;
  const state = licenceStateOf(licence);
  const { deletes_at_ms } = account;
  const runs = licence.licence_until_ms > 0;
  const endsWithAccount =
    deletes_at_ms !== null && deletes_at_ms < licence.period_ends_ms && ["renews", "free"].includes(state);
  return (
    <dl className="what-runs">
      {name && (
        <Fact
          name={isNotBegun(state) ? "You chose" : planName(runs || !noMore.includes(state))}
          note={[limit != null && limitInWords("assistants", limit), !runs && price]
            .filter(Boolean)
            .join(", ")}
        >
          {name}
        </Fact>
      )}
      {endsWithAccount ? (
        <Fact name="Ends on" note="with your account, and is not charged again">
          <Clock atMs={deletes_at_ms} shows="date" />
        </Fact>
      ) : next && state !== "returned" ? (
        <Renewal licence={licence} next={next} period={period} />
      ) : (
        <Day licence={licence} next={next} change={change} card={card} />
      )}
      {scheduled && !endsWithAccount && (
        <Fact
          name="Changes to"
          note={
            <>
              on <Clock atMs={scheduled.atMs} shows="date" />
              {scheduled.offer?.amount && `, ${scheduled.offer.amount}`}
            </>
          }
        >
          {scheduled.offer?.name ?? "Another plan"}
        </Fact>
      )}
      {priceNotes[state] && !next && deletes_at_ms === null && price && (
        <Fact name="Price" note={priceNotes[state]}>
          {price}
        </Fact>
      )}
      {card && !endsWithAccount && licence.next_attempt_ms === null && (
        <Fact name="Card" note={`ending in ${card.last4}`}>
          {titleCase(card.brand)}
        </Fact>
      )}
    </dl>
  );
}

/** When a price is charged of which nothing is due. */
const priceNotes: Partial<Record<LicenceState, string>> = {
  cancelled: "from then on, if you keep it",
  "not collected": "once payments resume",
};

const planName = (runs: boolean) => (runs ? "Plan" : "Last plan");

type PlanFactsProps = {
  account: Account;
  /** The plan, where nothing else on the page names it. */
  own?: { contents: Contents; plans: Plans };
  nowMs: number;
};

/** A plan that no licence gives, in one row: what it is, and until when it is free. */
export function PlanFacts({ account, own, nowMs }: PlanFactsProps) {
  const { plan, trial_ends_at_ms, given_ends_at_ms, deletes_at_ms } = account;
  const assistants = own?.contents.limits.assistants;
  const isTrial = plan === "trial";
  const hasEnded = isTrial && trial_ends_at_ms <= nowMs;
  const endMs = isTrial ? trial_ends_at_ms : given_ends_at_ms;
  const goesFirst = deletes_at_ms !== null && deletes_at_ms < (endMs ?? Infinity);
  return (
    <dl className="what-runs">
      {own && (
        <Fact name={planName(!hasEnded)} note={assistants != null && limitInWords("assistants", assistants)}>
          {own.plans.get(own.contents.plan)?.title}
        </Fact>
      )}
      {!hasEnded && (
        <Fact
          name="Price"
          note={
            plan === "licensed"
              ? "given to you by us"
              : isTrial && "nothing is charged today, or when it ends"
          }
        >
          Free
        </Fact>
      )}
      {goesFirst ? (
        <Fact name="Ends on" note="with your account">
          <Clock atMs={deletes_at_ms} shows="date" />
        </Fact>
      ) : (
        <Fact
          name={hasEnded ? "Ended on" : isTrial ? "Free until" : endMs === null ? "Ends" : "Ends on"}
          note={
            isTrial && !hasEnded && `${leftInWords(trial_ends_at_ms - nowMs)}, then your assistants pause`
          }
        >
          {endMs === null ? "Never" : <Clock atMs={endMs} shows="date" />}
        </Fact>
      )}
    </dl>
  );
}

/** `paid each month` of `1 month`, `paid every 3 months` of `3 month`. */
export const paidInWords = (period: string) =>
  `paid ${period.replace(/^1 /, "each ").replace(/^(\d.*)/, "every $1s")}`;

type RenewalProps = { licence: Licence; next: NextPayment; period: string | undefined };

function Renewal({ licence, next: { amount, tax, currency, atMs }, period }: RenewalProps) {
  const isFree = licenceStateOf(licence) === "free";
  const isAtRenewal = Math.abs(atMs - licence.period_ends_ms) < dayMs;
  return (
    <>
      {(isFree || !isAtRenewal) && (
        <Fact name={isFree ? "Free until" : "Renews on"}>
          <Clock atMs={licence.period_ends_ms} shows="date" />
        </Fact>
      )}
      <Fact
        name={isFree ? "First charge" : "Next charge"}
        note={
          <>
            on <Clock atMs={atMs} shows="date" />
            {amount > 0 && period && `, ${paidInWords(period)}`}
            {tax > 0 && `; ${priceInWords(tax, currency)} of it is tax`}
          </>
        }
      >
        {amount > 0 ? priceInWords(amount, currency) : "Nothing"}
      </Fact>
    </>
  );
}

/** What is due of a licence, when Stripe tries again, and what happens on which day. */
function Day({
  licence,
  next,
  change,
  card,
}: Pick<LicenceFactsProps, "licence"> & Pick<Terms, "next" | "change" | "card">) {
  const state = licenceStateOf(licence);
  // To pay for what has ended brings nothing back, and a bank pays by itself.
  const due = ["ended", "trial over", "at bank"].includes(state) ? undefined : describeDue(licence);
  const [sum, inInvoices] = due?.split(/ (?=in \d+ invoices)/) ?? [];
  const { day, note } = days[state] ?? {};
  return (
    <>
      {sum && (
        <Fact
          name={state === "invoiced" ? "Amount due" : "Due now"}
          note={inInvoices ?? (state === "change unpaid" && changeInWords(change))}
        >
          {sum}
        </Fact>
      )}
      {sum && licence.next_attempt_ms !== null && (
        <Fact
          name="Next attempt"
          note={`Stripe charges your ${card ? `${titleCase(card.brand)} ending in ${card.last4}` : "card by itself"}`}
        >
          <Clock atMs={licence.next_attempt_ms} shows="date" />
        </Fact>
      )}
      {noMore.includes(state) && <Fact name="Next charge">None</Fact>}
      {day && (
        <Fact name={day} note={note}>
          <Clock atMs={paymentDay(licence) ?? licence.period_ends_ms} shows="date" />
        </Fact>
      )}
      {state === "returned" && (
        <Fact
          name="Charged again on"
          note={`${next ? `${priceInWords(next.amount, next.currency)}, ` : ""}unless you cancel it at Stripe`}
        >
          <Clock atMs={licence.period_ends_ms} shows="date" />
        </Fact>
      )}
    </>
  );
}

function changeInWords({ offer, credit }: NonNullable<Terms["change"]> = {}) {
  const words = `for the change${offer ? ` to ${[offer.name, offer.amount].filter(Boolean).join(", ")}` : ""}`;
  return credit ? `${words}, less ${credit} that you had paid` : words;
}

/** What ended, or ends, without anything that is charged yet. */
const noMore: readonly LicenceState[] = [
  "ended",
  "trial over",
  "paused",
  "pausing",
  "cancelled",
  "not collected",
];

const stops = "Assistants stop on";

/** What happens on the day that is shown of a licence, and what does not stop it. Elsewhere the heading has the day. */
const days: Partial<Record<LicenceState, { day: string; note?: string }>> = {
  renews: { day: "Renews on" },
  free: { day: "Free until", note: "the first payment is due then" },
  "past due": { day: stops, note: "if the card keeps failing" },
  overdue: { day: stops, note: "if the invoice stays unpaid" },
  "change unpaid": { day: stops, note: "if the change stays unpaid" },
  "trial unpaid": { day: stops, note: "if no card pays" },
  "due beside a gift": { day: "Ends on", note: "if it stays unpaid" },
};

/** A name, what it is, and below it what else is true of it. */
export function Fact({ name, note, children }: { name: string; note?: ReactNode; children: ReactNode }) {
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
