import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { NextPayment } from "@/lib/billing/prices/next-payment";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { moneyInWords } from "@/lib/config/money";
import { forms } from "@/lib/http/register/forms";
import { isDue, type LicenceState } from "@/lib/plans/entitlement-words";
import { describeDue, type Licence, licenceStateOf, wantsPayment } from "@/lib/plans/licence-state";
import type { Standing } from "@/lib/plans/standing";
import { Clock } from "../../clock";
import { PostForm } from "../../post-form";
import type { Offer, Purchases, readTerms } from "./offers";
import { isOwed, WhatRuns } from "./what-runs";

type Terms = Awaited<ReturnType<typeof readTerms>>;

type BillingProps = {
  account: Account;
  bought: Purchases;
  terms: Terms | undefined;
  standing: Standing;
  /** Whether an invoice is open, as far as Stripe says so. */
  hasOpenInvoice: boolean;
};

/** The licence that an account has, or had, and what is to be done about it. */
export function Billing({ account, bought, terms, standing, hasOpenInvoice }: BillingProps) {
  const state = bought.licence && licenceStateOf(bought.licence);
  const due = bought.licence && describeDue(bought.licence);
  const paid = bought.subscriptions.filter(({ licence_until_ms }) => licence_until_ms > 0);
  const isLeaving = account.deletes_at_ms !== null;
  return (
    <>
      {(state || bought.hasBought || isLeaving || account.plan === "licensed") && (
        <section className="card licence" aria-labelledby="billing">
          <h2 id="billing">Your licence</h2>
          {paid.length > 1 && (
            <Alert>
              You pay for more than one licence. Open “Manage billing” and cancel those you do not need; if it
              does not show one, {askUs()}.
            </Alert>
          )}
          {state && !plain.has(state) && (
            <Alert>
              {standing.next} {wantsPayment(state) && !isOwed(state) && due && `${due} is due.`}
            </Alert>
          )}
          {bought.licence && (terms?.next || isOwed(state)) && !endsBefore(bought.licence, account) ? (
            <WhatRuns {...terms} licence={bought.licence} />
          ) : (
            <LicenceTerms account={account} licence={bought.licence} {...terms} />
          )}
          {state === "renews" && !terms?.next && (
            <p className="quiet">We cannot show the next amount at the moment; “Manage billing” does.</p>
          )}
          {hasOpenInvoice && paid.length > 0 && !due && (
            <p>
              An earlier invoice is still open: see <a href="#invoices">Invoices</a>.
            </p>
          )}
          {state === "unfinished" && (
            <PostForm action={forms.openPortal.path} hidden={{ account: account.id, for: "unfinished" }}>
              <button type="submit">Finish the payment</button>
            </PostForm>
          )}
          {isLeaving && (
            <p>Nothing is sold to an account that will be deleted. To buy, keep the account first.</p>
          )}
          {bought.hasBought && (
            <PostForm action={forms.openPortal.path} hidden={{ account: account.id }} className="portal">
              <button type="submit" className={state && asksToPay(state) ? undefined : "plain small"}>
                Manage billing
              </button>
              <p className="quiet">{describePortal(state)}</p>
            </PostForm>
          )}
        </section>
      )}
      {bought.latestPack && <PackNote {...bought.latestPack} />}
    </>
  );
}

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

type LicenceTermsProps = Pick<Purchases, "licence"> & Terms & { account: Account };

/** The name and assistants of a licence, when it renews, ends or ended, and what is paid next. */
export function LicenceTerms({ account, licence, name, next, limit }: LicenceTermsProps) {
  const state = licence && licenceStateOf(licence);
  const isGiven = account.plan === "licensed" && (licence?.licence_until_ms ?? 0) === 0;
  const hasEnd = account.given_ends_at_ms !== null;
  const given = isGiven && (
    <p>The operator gave you a licence. It {hasEnd ? "costs" : "has no end, and costs"} you nothing here.</p>
  );
  if (!state || (isGiven && state === "ended")) return given || null;
  const { ends_at_ms, period_ends_ms } = licence;
  const endsWithAccount = ["renews", "free"].includes(state) && endsBefore(licence, account);
  if (isOwed(state)) return <WhatRuns {...{ licence, name, limit }} />;
  return (
    <>
      {given}
      <p>
        {name && (
          <>
            <strong>{name}</strong>
            {limit != null && `, up to ${limit} assistants`}.{" "}
          </>
        )}
        {endsWithAccount
          ? "It ends with your account, and is not charged again."
          : dates[state] && (
              <>
                {dates[state]} <Clock atMs={ends_at_ms ?? period_ends_ms} shows="date" />
                {next && <NextPaymentWords next={next} renewsAtMs={period_ends_ms} />}.
                {state === "cancelled" && " Nothing more is charged."}
              </>
            )}
        {state === "unfinished" && "Its first payment is not finished."}
      </p>
      {state === "returned" && (
        <p>
          Stripe goes on with it: it renews on <Clock atMs={period_ends_ms} shows="date" />, and you are
          charged then. To end it for good, open “Manage billing” and cancel it.
        </p>
      )}
    </>
  );
}

/** Whether an account will be deleted before its licence would renew. */
const endsBefore = ({ period_ends_ms }: Licence, { deletes_at_ms }: Account) =>
  (deletes_at_ms ?? period_ends_ms) < period_ends_ms;

/** What is paid at the renewal, or before it for what is next to the licence. */
function NextPaymentWords({ next, renewsAtMs }: { next: NextPayment; renewsAtMs: number }) {
  const { amount, tax, currency, atMs } = next;
  const sum = `${moneyInWords(amount, currency)}${tax > 0 ? ` (${moneyInWords(tax, currency)} of it tax)` : ""}`;
  if (Math.abs(atMs - renewsAtMs) < dayMs)
    return amount > 0 ? ` for ${sum}` : ", and nothing is charged then";
  return (
    <>
      . The next payment is {sum} on <Clock atMs={atMs} shows="date" />
    </>
  );
}

/** The states of a licence in which there is nothing to do. */
const plain: ReadonlySet<LicenceState> = new Set(["renews", "free", "cancelled", "ended", "trial over"]);

const asksToPay = (state: LicenceState) => isDue(state) || ["unpaid", "due beside a gift"].includes(state);

function describePortal(state: LicenceState | undefined): string {
  if (!state || state === "ended") return "Invoices and your card";
  if (asksToPay(state)) return "To pay, to change the card, or to cancel";
  return `Invoices, your card, and how to ${state === "cancelled" ? "keep the licence" : "cancel"}`;
}

/** What happens on the day that is shown: the end of the licence or its period. */
const dates: Partial<Record<LicenceState, string>> = {
  renews: "Renews on",
  free: "It is free now. The first payment is due on",
  "not collected": "The next period begins on",
  cancelled: "It is cancelled and ends on",
  pausing: "Your company may run until",
  unknown: "It ends on",
  "due beside a gift": "If it stays unpaid, it ends on",
  ended: "Your licence ended on",
  unpaid: "Your licence ended on",
  returned: "It ended on",
  paused: "It ended on",
  "trial over": "Its free trial ended on",
};

function Alert({ children }: { children: ReactNode }) {
  return (
    <p className="problem ours" role="alert">
      {children}
    </p>
  );
}

type PacksProps = { offers: Offer[]; accountId: string };

/** The packs of credits that the account may buy. */
export function Packs({ offers, accountId }: PacksProps) {
  if (offers.length === 0) return null;
  return (
    <section aria-labelledby="packs">
      <h3 id="packs">Buy credits</h3>
      <ul className="rows">
        {offers.map((offer) => (
          <li key={offer.priceId}>
            <div>
              <strong>{offer.name}</strong>
              <p className="quiet">{offer.amount ?? "Price shown at checkout"}</p>
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
    </section>
  );
}
