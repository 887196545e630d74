import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { askUs } from "@/lib/config/contact";
import { settings } from "@/lib/config/settings";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { isNotBegun, type LicenceState } from "@/lib/plans/entitlement-words";
import { hasNeverBegun, licenceStateOf, liveOf, wantsPayment } from "@/lib/plans/licence-state";
import type { Contents, Plan, Plans } from "@/lib/plans/plan";
import { Clock } from "../../clock";
import {
  groupByPlan,
  hasWords,
  type OfferedPlan,
  PlanCard,
  PlanLine,
  savingOf,
  taxInWords,
} from "../../plan-cards";
import { PostForm } from "../../post-form";
import { withMailLink } from "../check-result";
import { GivenUntil } from "../given-until";
import { asksAtStripe } from "./billing";
import type { Changes, Offer, Offers, Purchases } from "./offers";

type PlanChoiceProps = {
  account: Account;
  contents: Contents;
  plans: Plans;
  /** Undefined without billing, and if it cannot be read. */
  bought: Purchases | undefined;
  offers: Offers | undefined;
  changes: Changes | undefined;
  /** Whether the company may run: if not, its plan has ended. */
  mayRun: boolean;
  nowMs: number;
};

/** The plans, with what the owner has, what can be bought, and to what the licence can be changed. */
export function PlanChoice({
  account,
  contents,
  plans,
  bought,
  offers,
  changes,
  mayRun,
  nowMs,
}: PlanChoiceProps) {
  const { licences = [], buysLicences = false } = offers ?? {};
  const own = mayRun ? contents.plan : undefined;
  const paid = bought?.licence;
  const state = paid && licenceStateOf(paid);
  const isAsked = state && asksAtStripe(state, account);
  const mark = mayRun || !state || (hasNeverBegun(paid) && !isNotBegun(state)) ? undefined : marks[state];
  const former = mark ? licences.find(({ priceId }) => priceId === paid?.price_id)?.plan : undefined;
  const paidPrice = paid && paid.licence_until_ms > nowMs ? paid.price_id : undefined;
  const mayChange = (offer: Offer) => changes?.offers.includes(offer) && account.deletes_at_ms === null;
  const isFree = paidPrice == null;
  /** With its period, where that is not chosen above for all plans. */
  const nameOfChange = (offer: Offer) => {
    const period = periodInWords(offer).toLowerCase();
    if (offer.plan?.name === own) return period;
    const isOneOf = licences.some((other) => other.plan === offer.plan && !mayChange(other));
    return isOneOf ? `${offer.name}, ${period}` : offer.name;
  };
  const paidOffer = licences.find(({ priceId }) => priceId === paidPrice);
  const isPresent = (offer: Offer) =>
    paidOffer !== undefined && offer.plan === paidOffer.plan && !buysLicences;
  const act = (offer: Offer): ReactNode =>
    isAsked && buysLicences && offer.priceId === paid.price_id ? (
      <Present>Pay for it above</Present>
    ) : buysLicences ? (
      <BuyForm
        offer={offer}
        accountId={account.id}
        isNext={account.plan !== "licensed" && !isAsked && offer.plan === (former ?? licences[0]?.plan)}
      />
    ) : offer === changes?.offer ? (
      <Present>See above what it costs</Present>
    ) : mayChange(offer) ? (
      <ChangeLink to={nameOfChange(offer)} offer={offer} />
    ) : (
      acts &&
      paidOffer &&
      isPresent(offer) && <Present>Paid {periodInWords(paidOffer).toLowerCase()}</Present>
    );
  const acts = buysLicences || licences.some(mayChange);
  // Where nothing can be chosen, only prices of the period that is paid, or by the month.
  const only = paidOffer?.period ?? monthly;
  const hasOnly = ({ plan }: Offer) => licences.some((one) => one.plan === plan && one.period === only);
  const isFirst = ({ plan }: OfferedPlan) => plan !== undefined && plan.name === (own ?? former?.name);
  const shown = groupByPlan(
    plans,
    licences.filter((offer) => acts || offer.period === only || !hasOnly(offer)),
    (plan) => plan.name === own || (!settings().billing && hasWords(plan)),
  ).toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one)));
  const without = licences.filter(
    (offer) => offer.priceId !== paidPrice && !(buysLicences || mayChange(offer)),
  );
  const smallPrint = [
    taxInWords(licences),
    buysLicences && "You can cancel at any time. You pay at Stripe, which sends the receipts.",
    !buysLicences && licences.some(mayChange) && "You see what a change costs before you confirm it.",
  ]
    .filter(Boolean)
    .join(" ");
  const isUnsold = offers && licences.length === 0;
  if (isUnsold && shown.length === 0) return null; // how it stands says so
  const whyNot = licences.length > 0 && whyNoButton(account, bought, without.length, acts);
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">
        {buysLicences && account.plan !== "licensed"
          ? "Choose a plan"
          : licences.some(mayChange)
            ? "Change your plan"
            : shown.length > 1
              ? "Plans"
              : "Your plan"}
      </h2>
      {buysLicences && bought && <p>{beforeOffers(account, isAsked ? state : undefined, nowMs)}</p>}
      {!settings().billing && <p>You pay nothing here.</p>}
      {isUnsold && <p>{withMailLink(`Plans aren’t sold on this site: for one, ${askUs()}.`)}</p>}
      {settings().billing && !bought && <p>We cannot show your purchases at the moment.</p>}
      {whyNot && <p>{withMailLink(whyNot)}</p>}
      {acts && licences.every((offer) => act(offer)) && (
        <Periods offers={licences} shownPrice={changes?.offer?.priceId ?? paidPrice} />
      )}
      {shown.length > 0 && (
        <ul className={acts ? "plans" : "plans folded"}>
          {shown.map(({ plan, offers }) => {
            const isOwn = plan !== undefined && plan.name === own;
            const Shown = acts ? PlanCard : PlanLine;
            return (
              <Shown
                key={plan?.name ?? offers[0]?.priceId}
                {...{ plan, offers, plans, act }}
                isOpen={shown.length === 1}
                tag={
                  isOwn
                    ? "Your plan"
                    : plan && plan === changes?.offer?.plan
                      ? "You are changing to this"
                      : plan && plan === former
                        ? mark
                        : undefined
                }
                isOwn={isOwn}
                contents={isOwn ? contents : undefined}
                terms={isOwn && isFree && offers.length === 0 && "Free"}
              >
                {isOwn && acts && isFree && offers.length === 0 && (
                  <Present>
                    {account.plan === "trial" ? (
                      <>
                        Until <Clock atMs={account.trial_ends_at_ms} shows="date" />
                      </>
                    ) : (
                      "No charge"
                    )}
                  </Present>
                )}
                {isOwn && <GivenUntil account={account} />}
                {isOwn && plan.retired_at_ms !== null && <p>{retiredWords(plan, bought)}</p>}
              </Shown>
            );
          })}
        </ul>
      )}
      {smallPrint !== "" && <p className="quiet">{smallPrint}</p>}
    </section>
  );
}

/** What is said of the plan of a licence that does not run. */
const marks: Partial<Record<LicenceState, string>> = {
  ended: "Your last plan",
  "trial over": "You tried this",
  paused: "Your last plan",
  unpaid: "Your plan, not paid",
  "late at bank": "Your plan, not paid yet",
  unfinished: "You chose this",
  "at bank": "You chose this",
  returned: "Your plan, payment returned",
};

/** What stands where the others have a button, of what an owner has. */
const Present = ({ children }: { children: ReactNode }) => (
  <p className="present">
    <span>{children}</span>
  </p>
);

/** Why prices have no button, if some have none: what has to be done first, or whom to ask. */
function whyNoButton(
  { deletes_at_ms }: Account,
  bought: Purchases | undefined,
  without: number,
  acts: boolean,
): string | undefined {
  if (deletes_at_ms !== null)
    return "Nothing is sold to an account that will be deleted. To buy, keep the account first.";
  if (!bought?.licence || without === 0) return undefined;
  if (acts) return `To change to a price without a button, ${askUs()}.`;
  const state = licenceStateOf(bought.licence);
  if (state === "cancelled") return "To change your plan, keep it first.";
  if (state === "at bank" || state === "paying" || state === "late at bank")
    return "You can change your plan once your bank has paid for it.";
  if (state === "free") return "You can change your plan after its first payment.";
  if (state === "invoiced" || (wantsPayment(state) && state !== "pausing"))
    return "To change your plan, pay what is due first.";
  return liveOf(bought.subscriptions).length > 1
    ? "To change your plan, first cancel those that you do not need."
    : `To change your plan, ${askUs()}.`;
}

const monthly = "1 month";
const yearly = "1 year";

const periodInWords = ({ period, priceName }: Offer) =>
  period === monthly ? "Monthly" : period === yearly ? "Yearly" : priceName;

type PeriodsProps = { offers: Offer[]; shownPrice: string | null | undefined };

/** Chooses whether monthly or yearly prices are shown, where some plan has both. Without `:has` all are. */
function Periods({ offers, shownPrice }: PeriodsProps) {
  const isSold = (plan: Offer["plan"], as: string) =>
    offers.some((offer) => offer.plan === plan && offer.period === as);
  const isChosen = offers.some(({ plan }) => isSold(plan, monthly) && isSold(plan, yearly));
  if (!isChosen || offers.some(({ period }) => period !== monthly && period !== yearly)) return null;
  const shown = offers.find(({ priceId }) => priceId === shownPrice)?.period ?? monthly;
  const savings = offers
    .filter(({ plan, period }) => plan && period === yearly && isSold(plan, monthly))
    .map((offer) =>
      savingOf(
        offer,
        offers.filter(({ plan }) => plan === offer.plan),
      ),
    );
  const saving = savings.every((one) => one === savings[0]) && savings[0];
  return (
    <fieldset className="periods">
      <legend className="unseen">How you pay</legend>
      {[monthly, yearly].map((period) => (
        <label key={period}>
          <input type="radio" name="period" value={period} defaultChecked={period === shown} />
          {period === monthly ? "Monthly" : ["Yearly", saving].filter(Boolean).join(", ")}
        </label>
      ))}
    </fieldset>
  );
}

const describe = ({ name, amount }: Offer) => (amount ? `${name} for ${amount}` : name);

type BuyFormProps = { offer: Offer; accountId: string; isNext: boolean };

function BuyForm({ offer, accountId, isNext }: BuyFormProps) {
  return (
    <PostForm action={forms.beginCheckout.path} hidden={{ account: accountId }}>
      <button
        type="submit"
        className={isNext ? undefined : "plain"}
        name="licence"
        value={offer.priceId}
        aria-label={`Buy ${describe(offer)}`}
      >
        Buy {offer.name}
      </button>
    </PostForm>
  );
}

/** Leads to what the change to another price costs now. */
function ChangeLink({ to, offer: { priceId, amount } }: { to: string; offer: Offer }) {
  return (
    <a
      className="button plain"
      href={`${pages.billing.path}?change=${priceId}#change`}
      aria-label={`Change to ${to}${amount ? ` for ${amount}` : ""}`}
    >
      Change to {to}
    </a>
  );
}

/** What is said of a plan that is not offered any more to who has it. */
function retiredWords({ title }: Plan, bought: Purchases | undefined): string {
  const state = bought?.licence && licenceStateOf(bought.licence);
  const gone = `${title} is not offered any more.`;
  if (state === "cancelled") return `${gone} You have it until it ends, and cannot buy it again then.`;
  return bought?.licence?.licence_until_ms
    ? `${gone} You keep it, at the price that you pay, until you cancel or change it. You cannot come back to it then.`
    : `${gone} You keep it${settings().billing ? ", free, until you buy another plan. You cannot come back to it then" : ""}.`;
}

/** What buying means to an owner who has no licence, one that Stripe still charges, or one that we gave. */
function beforeOffers(
  { plan, trial_ends_at_ms }: Account,
  asked: LicenceState | undefined,
  nowMs: number,
): string {
  if (asked)
    return `If you buy a plan here, ${asked === "unfinished" ? "the payment that you have not finished is dropped" : "your old one is ended"} first, so you never pay for two.`;
  if (plan === "licensed")
    return "A plan that you buy replaces the one that we gave you: you pay its price and get what it includes.";
  const isTrial = plan === "trial" && trial_ends_at_ms > nowMs;
  return `A plan starts, and is charged, when you buy it${isTrial ? "; days left of the trial are not added" : ""}.`;
}
