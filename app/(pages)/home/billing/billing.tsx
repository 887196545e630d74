import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { licenceStateOf } from "@/lib/accounts/licence-state";
import type { NextPayment } from "@/lib/billing/next-payment";
import { moneyInWords } from "@/lib/config/money";
import { actions } from "@/lib/http/pages";
import { Clock } from "../../clock";
import { PostForm } from "../../post-form";
import type { Offer, Offers, Purchases, readTerms } from "./offers";

type Terms = Awaited<ReturnType<typeof readTerms>>;

type BillingProps = { account: Account; bought: Purchases; offers: Offers; terms: Terms | undefined };

/** The licence that an account has bought, and what is sold to it. */
export function Billing({ account, bought, offers: { licences, credits }, terms }: BillingProps) {
  const state = bought.licence && licenceStateOf(bought.licence);
  const paid = bought.subscriptions.filter(({ licence_until_ms }) => licence_until_ms > 0);
  return (
    <>
      <section className="card" id="billing" aria-labelledby="billing-heading">
        <h2 id="billing-heading">{licences.length > 0 ? "Choose a licence" : "Your licence"}</h2>
        {paid.length > 1 && (
          <Alert>
            You pay for more than one licence. Open “Manage billing” and cancel those you do not need.
          </Alert>
        )}
        {(state === "past due" || state === "unpaid") && (
          <Alert>
            {dueWords[state]} <AmountDue {...bought} />
          </Alert>
        )}
        <LicenceTerms account={account} licence={bought.licence} {...terms} />
        {state === "renews" && !terms?.next && (
          <p className="quiet">We cannot show the next amount at the moment; “Manage billing” does.</p>
        )}
        {licences.length > 0 && <p>You pay nothing now.</p>}
        <OfferList offers={licences} kind="licence" accountId={account.id} />
        {licences.length > 0 && (
          <p className="quiet">You pay at Stripe, which sends the receipts. You can cancel at any time.</p>
        )}
        {bought.hasBought && (
          <PostForm action={actions.openPortal.path} hidden={{ account: account.id }}>
            <p className="quiet">{describePortal(state)}:</p>
            <button type="submit" className="plain">
              Manage billing
            </button>
          </PostForm>
        )}
      </section>
      {credits.length > 0 && (
        <section className="card" aria-labelledby="packs">
          <h2 id="packs">Buy credits</h2>
          <OfferList offers={credits} kind="credits" accountId={account.id} />
        </section>
      )}
    </>
  );
}

type LicenceTermsProps = Pick<Purchases, "licence"> & Terms & { account: Account };

/** The name and assistants of a licence, when it renews, ends or ended, and what is paid next. */
export function LicenceTerms({ account, licence, name, next }: LicenceTermsProps) {
  const state = licence && licenceStateOf(licence);
  if (account.plan === "licensed" && (!state || state === "ended"))
    return <p>The operator gave you a licence. It has no end, and costs you nothing here.</p>;
  if (!state) return null;
  const { status, ends_at_ms, period_ends_ms, assistant_limit } = licence;
  return (
    <>
      {status === "refunded" && <Alert>Your payment was returned to you, so the licence ended.</Alert>}
      <p>
        {name && (
          <>
            <strong>{name}</strong>
            {assistant_limit !== null && `, up to ${assistant_limit} assistants`}.{" "}
          </>
        )}
        {(state !== "unpaid" || ends_at_ms !== null) && (
          <>
            {words[state]} <Clock atMs={ends_at_ms ?? period_ends_ms} shows="date" />.{" "}
          </>
        )}
        {next && <NextPaymentWords {...next} />}
      </p>
    </>
  );
}

function NextPaymentWords({ amount, tax, currency, atMs }: NextPayment) {
  const taxWords = tax > 0 ? ` (${moneyInWords(tax, currency)} of it tax)` : "";
  const words =
    amount > 0 ? `The next payment is ${moneyInWords(amount, currency)}${taxWords}` : "Nothing is charged";
  return (
    <>
      {words} on <Clock atMs={atMs} shows="date" />.
    </>
  );
}

/** What is due of the latest invoice. */
function AmountDue({ licence }: Pick<Purchases, "licence">) {
  const { amount_due, currency } = licence ?? {};
  return amount_due && currency ? `${moneyInWords(amount_due, currency)} is due.` : null;
}

const dueWords = {
  "past due": "Your last payment failed. Open “Manage billing” and pay it, or change the card.",
  unpaid: "Your licence is not paid. Open “Manage billing” and pay it there.",
};

function describePortal(state: ReturnType<typeof licenceStateOf> | undefined): string {
  if (!state || state === "ended") return "Invoices and your card";
  return `Invoices, your card, and how to ${state === "cancelled" ? "keep the licence" : "cancel"}`;
}

const words = {
  renews: "Renews on",
  "past due": "If the card keeps failing, your company stops on",
  cancelled: "It is cancelled and ends on",
  unpaid: "Your licence ended on",
  ended: "Your licence ended on",
};

function Alert({ children }: { children: ReactNode }) {
  return (
    <p className="problem ours" role="alert">
      {children}
    </p>
  );
}

type OfferListProps = { offers: Offer[]; kind: "licence" | "credits"; accountId: string };

function OfferList({ offers, kind, accountId }: OfferListProps) {
  if (offers.length === 0) return null;
  return (
    <ul className="rows">
      {offers.map((offer) => (
        <li key={offer.priceId}>
          <OfferWords {...offer} />
          <PostForm action={actions.beginCheckout.path} hidden={{ account: accountId }}>
            <button type="submit" name={kind} value={offer.priceId} aria-label={`Buy ${offer.name}`}>
              Buy
            </button>
          </PostForm>
        </li>
      ))}
    </ul>
  );
}

/** The name of what is sold, its price and what it includes. */
export function OfferWords({ name, amount = "Price shown at checkout", limit }: Offer) {
  return (
    <div>
      <strong>{name}</strong>
      <p className="quiet">
        {amount}
        {limit !== undefined && `, up to ${limit} assistants`}
      </p>
    </div>
  );
}
