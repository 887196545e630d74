import { Fragment, type ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { type Card, cardInWords, expiryInWords } from "@/lib/billing/customer/card";
import type { LicenceDetails } from "@/lib/billing/licence/licence-details";
import type { NextPayment } from "@/lib/billing/prices/next-payment";
import { dayMs } from "@/lib/config/durations";
import { priceInWords } from "@/lib/config/money";
import { settings } from "@/lib/config/settings";
import { choosePlan, type LicenceState } from "@/lib/plans/entitlement-words";
import { describeDue, endOf, licenceStateOf, paymentDay } from "@/lib/plans/licence-state";
import type { Standing } from "@/lib/plans/standing";
import { Clock } from "../../clock";
import { taxInWords } from "../../plan-cards";
import type { OwnVisit } from "../owner-page";
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
  /** The currency in which Stripe charges it, if it is not the price's. */
  paidIn?: string | undefined;
  /** What it changes to on a day. */
  scheduled?: (NonNullable<LicenceDetails["scheduled"]> & { offer: Offer | undefined }) | undefined;
  /** When it will be paused. */
  pause?: LicenceDetails["pause"];
  /** Whether the portal may give it another price. */
  isChangeable?: boolean | undefined;
  /** What a change that is not paid leads to. */
  change?: { offer?: Offer | undefined; credit?: string | undefined } | undefined;
};

type ChargesProps = Pick<OwnVisit, "account" | "contents" | "plans" | "bought" | "nowMs"> & {
  standing: Standing;
  terms: Terms | undefined;
  /** What is to be chosen from, where no plans are shown below. */
  choice?: Offer[] | undefined;
  /** What is bought again, in place of a licence whose payment was returned. */
  again?: Offer | undefined;
};

/** In one row, in every state: what is paid now, what is charged next and when, and for which plan. */
export function Charges({ choice = [], ...props }: ChargesProps) {
  const { account, contents, plans, bought, standing } = props;
  if (settings().billing && !bought) return null;
  const licence = bought?.licence;
  const counts = licenceThatCounts(account, bought, standing) !== undefined;
  const isOver = licence && over.has(licenceStateOf(licence));
  const isCharged = licence && !isOver && (counts || courses[licenceStateOf(licence)].next !== "nothing");
  return (
    <dl className="charges">
      {isCharged ? <OfLicence {...props} licence={licence} /> : <OfNone {...props} />}
      {counts && licence ? (
        <LicencePlan {...props} licence={licence} />
      ) : (
        standing.mayRun && (
          <Fact
            name="Plan"
            notes={[
              account.plan === "trial" && (
                <>
                  until <Clock atMs={account.trial_ends_at_ms} shows="date" />
                </>
              ),
            ]}
          >
            {plans.get(contents.plan)?.title}
          </Fact>
        )
      )}
      {choice.length > 0 && <Choice offers={choice} />}
    </dl>
  );
}

/** The licence that the words about an account are about: one that runs, or for whose sake the company is stopped. */
export function licenceThatCounts(account: Account, bought: Purchases | undefined, { mayRun }: Standing) {
  const { licence } = bought ?? {};
  if (!licence || licence.licence_until_ms > 0) return licence;
  const end = endOf(account, licence);
  return !mayRun && (end.what === "licence" || end.beside) ? licence : undefined;
}

/** How the charges of a licence go on, and how its plan is called. */
type Course = {
  /** What is charged next: what Stripe says, the price once what is due is paid, or nothing. */
  next: "by Stripe" | "once paid" | "nothing";
  note?: (price: string, day: ReactNode) => ReactNode;
  /** What is said below the sum that is paid now, where nothing is due. */
  now?: string;
  plan?: "You chose" | "You tried" | "Last plan";
};

const itsPrice = "the price of the plan";
const whilePaused = "while your plan is paused";

/** What has ended for good charges nothing, as where there never was a licence. */
const over: ReadonlySet<LicenceState> = new Set(["ended", "trial over"]);

/** Nothing is charged to who has no plan. */
const untilBought = ({ step }: Standing, what = "") =>
  step?.words === choosePlan && `${what}until you buy a plan`;

const courses: Record<LicenceState, Course> = {
  renews: { next: "by Stripe" },
  free: { next: "by Stripe" },
  returned: { next: "by Stripe", note: () => "for the old plan: not charged if you pay again, or cancel it" },
  invoiced: { next: "once paid" },
  "past due": { next: "once paid" },
  paying: {
    next: "once paid",
    now: "your bank is paying for your plan",
    note: () => "once your bank has paid",
  },
  "late at bank": {
    next: "once paid",
    now: "your bank is paying for your plan",
    note: () => "once your bank has paid",
  },
  overdue: { next: "once paid" },
  "change unpaid": { next: "once paid" },
  "trial unpaid": { next: "once paid" },
  "due beside a gift": { next: "once paid" },
  unpaid: { next: "once paid" },
  unfinished: { next: "once paid", plan: "You chose" },
  "at bank": {
    next: "once paid",
    now: "your bank is paying for your plan",
    note: () => "once your bank has paid",
    plan: "You chose",
  },
  "not collected": { next: "nothing", note: (price) => `${price} again, once payments are resumed` },
  cancelled: {
    next: "nothing",
    now: "even if you keep the plan",
    note: (price, day) => (
      <>
        if you keep the plan, {price} from {day} on
      </>
    ),
  },
  unknown: { next: "nothing", note: () => "Stripe does not know your plan" },
  pausing: { next: "nothing", note: () => whilePaused },
  paused: { next: "nothing", note: () => whilePaused, plan: "Last plan" },
  ended: { next: "nothing", plan: "Last plan" },
  "trial over": { next: "nothing", plan: "You tried" },
};

/** What is open of a licence that renews is charged by itself, a bank pays by itself, and what has ended does not come back. */
const paysNothing: readonly LicenceState[] = [
  "renews",
  "free",
  "returned",
  "at bank",
  "paying",
  "late at bank",
  "ended",
  "trial over",
];

type OfLicenceProps = ChargesProps & { licence: NonNullable<Purchases["licence"]> };

function OfLicence({ account, standing, licence, terms = {}, again, nowMs }: OfLicenceProps) {
  const { price = itsPrice, period, next, card, paidIn, change, scheduled, pause } = terms;
  const state = licenceStateOf(licence);
  const course = courses[state];
  const isEnding = next !== undefined && course.next === "nothing"; // after that charge
  const due = paysNothing.includes(state) ? undefined : describeDue(licence);
  const [sum, inInvoices] = due?.split(/ (?=in \d+ invoices)/) ?? [];
  const { next_attempt_ms: attemptMs, period_ends_ms: endsMs } = licence;
  const leavesMs = account.deletes_at_ms ?? Number.POSITIVE_INFINITY;
  const isTried = sum !== undefined && attemptMs !== null && attemptMs > nowMs && attemptMs < leavesMs;
  const endsFirst = leavesMs < endsMs;
  const pausesFirst = course.next !== "nothing" && pause !== undefined && pause.atMs <= endsMs;
  const note = course.note?.(price, <Clock atMs={endsMs} shows="date" />);
  const priceAgain = state === "returned" ? again?.amount : undefined;
  return (
    <>
      <Fact
        name={!priceAgain ? "You pay now" : standing.mayRun ? "If you pay again" : "To run again"}
        notes={[
          inInvoices,
          state === "change unpaid" && changeInWords(change),
          state === "invoiced" && sum && (
            <>
              by <Clock atMs={paymentDay(licence) ?? endsMs} shows="date" />
            </>
          ),
          isTried && (
            <>
              or Stripe charges your {card ? cardInWords(card, nowMs) : "card"} on{" "}
              <Clock atMs={attemptMs} shows="date" />
            </>
          ),
          account.deletes_at_ms === null && !sum && !isEnding && course.now,
          priceAgain && "charged today, when you pay again; the old plan ends",
        ]}
      >
        {priceAgain ??
          sum ??
          (course.next === "once paid" && !paysNothing.includes(state) ? atStripe : "Nothing")}
      </Fact>
      {endsFirst || pausesFirst || (course.next === "nothing" && !isEnding) ? (
        <Fact
          name={nextCharge}
          notes={[
            endsFirst
              ? course.next !== "nothing" && withAccount
              : pausesFirst
                ? whilePaused
                : (note ?? untilBought(standing)),
          ]}
        >
          Nothing
        </Fact>
      ) : course.next === "once paid" ? (
        <Fact
          name={<NextCharge onMs={endsMs > nowMs ? endsMs : undefined} />}
          notes={[note ?? "once this is paid"]}
        >
          {change?.offer?.amount ?? terms.price ?? atStripe}
        </Fact>
      ) : (
        <Fact
          name={<NextCharge onMs={next?.atMs ?? endsMs} />}
          notes={[
            !isEnding && note,
            next && next.amount > 0 && state !== "returned" && period && paidInWords(period),
            next && next.amount > 0 && paidIn && `charged in ${paidIn.toUpperCase()}`,
            next && next.tax > 0 && `${priceInWords(next.tax, next.currency)} of it is tax`,
          ]}
        >
          {!next ? atStripe : next.amount > 0 ? priceInWords(next.amount, next.currency) : "Nothing"}
        </Fact>
      )}
      {next && !endsFirst && Math.abs(next.atMs - endsMs) >= dayMs && (
        <Fact name={state === "free" ? "Free until" : "Renews on"}>
          <Clock atMs={endsMs} shows="date" />
        </Fact>
      )}
      {pause && !endsFirst && (
        <Fact
          name="Pauses on"
          notes={[
            pause.resumesAtMs !== undefined && (
              <>
                until <Clock atMs={pause.resumesAtMs} shows="date" />
              </>
            ),
          ]}
        >
          <Clock atMs={pause.atMs} shows="date" />
        </Fact>
      )}
      {scheduled && !endsFirst && (
        <Fact
          name="Changes to"
          notes={[
            <>
              on <Clock atMs={scheduled.atMs} shows="date" />
            </>,
            scheduled.offer?.amount,
          ]}
        >
          {scheduled.offer?.name ?? "Another plan"}
        </Fact>
      )}
    </>
  );
}

function LicencePlan({ licence, terms = {}, account, nowMs }: OfLicenceProps) {
  const { name, card } = terms;
  const state = licenceStateOf(licence);
  const { plan = "Plan" } = courses[state];
  return (
    <>
      {name && (
        <Fact
          name={plan}
          notes={[
            state === "change unpaid" && licence.unpaid_since_ms !== null && (
              <>
                paid until <Clock atMs={licence.unpaid_since_ms} shows="date" />
              </>
            ),
          ]}
        >
          {name}
        </Fact>
      )}
      {card && licence.next_attempt_ms === null && account.deletes_at_ms === null && (
        <Fact name="Card" notes={[`ending in ${card.last4}, ${expiryInWords(card, nowMs)}`]}>
          {card.brand}
        </Fact>
      )}
    </>
  );
}

const whyFree: Record<Account["plan"], string> = {
  trial: "your trial is free",
  hobby: "your plan is free",
  licensed: "we gave you your plan",
};

/** Nothing is charged to an account without a licence, now or next. */
function OfNone({ account, standing }: ChargesProps) {
  const { plan, given_ends_at_ms, deletes_at_ms } = account;
  return (
    <Fact
      name="You pay"
      notes={[
        standing.mayRun && (
          <>
            {whyFree[plan]}
            {plan !== "trial" && given_ends_at_ms !== null && (
              <>
                {" "}
                until <Clock atMs={given_ends_at_ms} shows="date" />
              </>
            )}
          </>
        ),
        deletes_at_ms === null
          ? untilBought(standing, standing.mayRun ? "nothing is charged " : "")
          : standing.mayRun && withAccount,
      ]}
    >
      Nothing
    </Fact>
  );
}

/** What a plan costs: those by the month, where some are. */
function Choice({ offers }: { offers: Offer[] }) {
  const monthly = offers.filter(({ period }) => period === "1 month");
  const shown = (monthly.length > 0 ? monthly : offers).filter(({ amount }) => amount).slice(0, 3);
  const [first, ...others] = shown;
  if (!first) return null;
  return (
    <Fact
      name={`The ${first.name} plan`}
      notes={[
        [others.map(({ name, amount }) => `${name}: ${amount}`).join(", "), taxInWords(shown)]
          .filter(Boolean)
          .join(". "),
      ]}
    >
      {first.amount}
    </Fact>
  );
}

const withAccount = "your plan ends with your account";
const atStripe = "Shown at Stripe";
const nextCharge = "Next charge";

/** Names the next charge by its day, if that is known. */
export const NextCharge = ({ onMs }: { onMs: number | undefined }) =>
  onMs === undefined ? (
    nextCharge
  ) : (
    <>
      {nextCharge}, on <Clock atMs={onMs} shows="date" />
    </>
  );

type FactProps = { name: ReactNode; notes?: ReactNode[]; children: ReactNode };

/** A name, what it is, and below it what else is true of it. */
function Fact({ name, notes = [], children }: FactProps) {
  const said = notes.filter(Boolean);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}{" "}
        {said.length > 0 && (
          <small>
            {said.map((note, at) => (
              <Fragment key={String(at)}>
                {at > 0 && "; "}
                {note}
              </Fragment>
            ))}
          </small>
        )}
      </dd>
    </div>
  );
}

/** `paid each month` of `1 month`, `paid every 3 months` of `3 month`. */
export const paidInWords = (period: string) =>
  `paid ${period.replace(/^1 /, "each ").replace(/^(\d.*)/, "every $1s")}`;

function changeInWords({ offer, credit }: NonNullable<Terms["change"]> = {}) {
  const words = `for the change${offer ? ` to ${[offer.name, offer.amount].filter(Boolean).join(", ")}` : ""}`;
  return credit ? `${words}, less ${credit} that you had paid` : words;
}
