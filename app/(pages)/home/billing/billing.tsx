import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { askUs } from "@/lib/config/contact";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { choosePlan, type LicenceState } from "@/lib/plans/entitlement-words";
import { describeDue, hasNeverBegun, licenceStateOf, wantsPayment } from "@/lib/plans/licence-state";
import type { Contents, Plans } from "@/lib/plans/plan";
import type { Standing } from "@/lib/plans/standing";
import { ButtonLink } from "../../button-link";
import { Clock } from "../../clock";
import { PostButton, PostForm } from "../../post-form";
import { Shape } from "../../status-light";
import { NextStep, withMailLink } from "../check-result";
import { Charges, licenceThatCounts, type Terms } from "./charges";
import { findAgain, type Offer, type Offers, type Purchases, payingAgain } from "./offers";

type BillingProps = {
  account: Account;
  contents: Contents;
  plans: Plans;
  /** Undefined without billing, and if it cannot be read. */
  bought: Purchases | undefined;
  terms: Terms | undefined;
  standing: Standing;
  offers: Offers | undefined;
  /** Whether an invoice is open, as far as Stripe says so. */
  hasOpenInvoice: boolean;
  nowMs: number;
};

/** How the plan of an account stands, what it costs, and what is to be done about it: in the words of home. */
export function Billing({
  account,
  bought,
  terms = {},
  standing,
  offers,
  hasOpenInvoice,
  nowMs,
  ...own
}: BillingProps) {
  const state = bought?.licence && licenceStateOf(bought.licence);
  const licence = licenceThatCounts(account, bought, standing);
  const isLeaving = account.deletes_at_ms !== null;
  const again = findAgain(bought, offers);
  const paid = bought?.subscriptions.filter(({ licence_until_ms }) => licence_until_ms > 0) ?? [];
  const whatEnded =
    state === "trial over"
      ? ["Your free trial", terms.name && `of ${terms.name}`]
      : ["Your", terms.name, "plan"];
  return (
    <>
      <section className="card verdict" data-colour={standing.light[0]} aria-labelledby="billing">
        <div className="state">
          <Shape colour={standing.light[0]} />
          <h2 id="billing">{standing.heading}</h2>
        </div>
        {paid.length > 1 && (
          <Alert>
            You pay for more than one plan. Open “Manage billing” and cancel those you do not need; if it does
            not show one, {askUs()}.
          </Alert>
        )}
        {(isLeaving || !saysNothing(state, standing)) && <p>{withMailLink(standing.next)}</p>}
        {state && asksAtStripe(state, account) && !isLeaving && (
          <Acts {...{ account, state, standing, again }} />
        )}
        {!standing.mayRun && standing.step?.words === choosePlan && offers?.buysLicences && (
          <ButtonLink to="#plans">{choosePlan}</ButtonLink>
        )}
        {(standing.isForUs || isLeaving) && <NextStep state={standing} account={account} />}
        <Charges {...own} {...{ account, bought, standing, terms, again, nowMs }} />
        {bought?.licence && !licence && !hasNeverBegun(bought.licence) && (
          <p>
            {whatEnded.filter(Boolean).join(" ")} ended on{" "}
            <Clock atMs={bought.licence.ends_at_ms ?? bought.licence.period_ends_ms} shows="date" />.
          </p>
        )}
        {hasOpenInvoice && paid.length > 0 && bought?.licence && !describeDue(bought.licence) && (
          <p>
            An earlier invoice is still open: see <a href="#invoices">Invoices</a>.
          </p>
        )}
        {bought?.hasBought && (
          <PostForm action={forms.openPortal.path} hidden={{ account: account.id }} className="portal">
            <p className="quiet">
              {state && !hasNoCancel.has(state)
                ? "Invoices, your card, and how to cancel"
                : "Invoices and your card"}
            </p>
            <button type="submit" className="plain small">
              Manage billing
            </button>
          </PostForm>
        )}
      </section>
      {bought?.latestPack && <PackNote {...bought.latestPack} />}
    </>
  );
}

type ActsProps = {
  account: Account;
  state: LicenceState;
  standing: Standing;
  /** What is bought again. */
  again: Offer | undefined;
};

/** What settles the state of a licence, and what may be done in its place. */
function Acts({ account, state, standing, again }: ActsProps) {
  const { step, other } = again ? payingAgain(standing, again) : standing;
  if (!step) return null;
  const hidden = { account: account.id };
  const elsewhere =
    other?.path === pages.billing.path ? (
      <PostButton action={forms.openPortal.path} hidden={hidden}>
        {other.words}
      </PostButton>
    ) : (
      other && (
        <a className="button plain" href={other.path}>
          {other.words}
        </a>
      )
    );
  if (state === "returned")
    return (
      <div className="actions">
        {again ? (
          <PostForm action={forms.beginCheckout.path} hidden={hidden}>
            <button type="submit" name="licence" value={again.priceId}>
              {step.words}
            </button>
          </PostForm>
        ) : (
          <a className="button" href={step.path}>
            Choose a plan
          </a>
        )}
        {elsewhere}
      </div>
    );
  return (
    <div className="actions">
      <PostForm
        action={forms.openPortal.path}
        hidden={{ ...hidden, ...(state === "unfinished" && { for: state }) }}
      >
        <button type="submit">{step.words}</button>
      </PostForm>
      {elsewhere}
    </div>
  );
}

/** Whether the state of a licence asks for what is done at Stripe: to pay, to end it, or to take a cancellation back. */
export const asksAtStripe = (state: LicenceState, { deletes_at_ms }: Account) =>
  state === "cancelled"
    ? deletes_at_ms === null
    : state === "invoiced" || state === "returned" || (wantsPayment(state) && !isPause(state));

/** Those of which the portal has nothing to cancel. */
const hasNoCancel: ReadonlySet<LicenceState> = new Set(["cancelled", "ended", "trial over"]);

const isPause = (state: LicenceState) => state === "pausing" || state === "paused";

/** Whether nothing is to be done about the plan, and its facts say all. */
const saysNothing = (state: LicenceState | undefined, { status }: Standing) =>
  status === "hobby" || status === "trial"
    ? !state || state === "ended"
    : status === "licensed" && (!state || ["renews", "free", "ended", "trial over"].includes(state));

/** What became of credits that a bank has to pay: `unpaid` while it has not yet. */
function PackNote({ state, thousandths }: NonNullable<Purchases["latestPack"]>) {
  const credits = `${thousandths / 1000} credits`;
  if (state === "unpaid")
    return (
      <Alert>Your bank has not paid the {credits} yet. It may take two weeks: do not buy them again.</Alert>
    );
  return state === "failed" ? (
    <Alert>Your bank did not pay the {credits}. You were not charged, and got none.</Alert>
  ) : null;
}

function Alert({ children }: { children: ReactNode }) {
  return (
    <p className="problem ours" role="alert">
      {children}
    </p>
  );
}

/** The packs of credits that the account may buy. */
export function Packs({ offers, accountId }: { offers: Offer[]; accountId: string }) {
  if (offers.length === 0) return null;
  return (
    <section aria-labelledby="packs">
      <h3 id="packs">Buy credits</h3>
      <ul className="rows">
        {offers.map((offer) => (
          <li key={offer.priceId}>
            <div>
              <strong>{offer.name}</strong>
              <p className="quiet">
                {offer.amount ?? "Price shown at checkout"}
                {offer.credit && `, that is ${offer.credit} a credit`}
              </p>
            </div>
            <PostForm action={forms.beginCheckout.path} hidden={{ account: accountId }}>
              <button
                type="submit"
                className="plain small"
                name="credits"
                value={offer.priceId}
                aria-label={`Buy ${offer.name}`}
              >
                Buy
              </button>
            </PostForm>
          </li>
        ))}
      </ul>
      <p className="quiet">You pay once, on Stripe’s page.</p>
    </section>
  );
}
