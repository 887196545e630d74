import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { type BillingSummary, readBilling } from "@/lib/accounts/purchases";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";
import { Clock } from "../clock";
import { type Offer, readOffers } from "./offers";

type BillingProps = {
  account: Account;
  bought: BillingSummary;
  offers: Record<"licences" | "credits", Offer[]>;
};

/**
 * Reads the offers to an account and what it has bought. Returns `undefined` where billing is not set up, and if it
 * cannot be read: the rest of the page does not need it.
 */
export async function readHomeBilling(account: Account, nowMs: number): Promise<BillingProps | undefined> {
  const { billing } = settings();
  if (!billing) return undefined;
  try {
    const bought = await readBilling(await store(), account.id);
    const [licences, credits] = await Promise.all([
      isLicensed(account, bought) ? [] : readOffers(billing.licencePrices, "Licence", nowMs),
      account.plan === "licensed" ? readOffers(billing.creditPrices, "Credits", nowMs) : [],
    ]);
    return { account, bought, offers: { licences, credits } };
  } catch (failure) {
    log().error({ err: failure }, "billing could not be read");
    return undefined;
  }
}

/** The subscriptions next to which none is sold: they have not ended at Stripe. */
const liveOf = ({ subscriptions }: BillingSummary) =>
  subscriptions.filter(({ status }) => !["canceled", "incomplete_expired", "gone"].includes(status));

const isLicensed = ({ plan }: Account, bought: BillingSummary) =>
  plan === "licensed" || liveOf(bought).length > 0;

/** The offers to the account, and the licence that it has bought. */
export function Billing({ account, bought, offers: { licences, credits } }: BillingProps) {
  if (licences.length + credits.length === 0 && !bought.hasBought) return null;
  const live = liveOf(bought);
  const [licence] = live.length > 0 ? live : bought.subscriptions;
  return (
    <section className="billing" id="billing" aria-labelledby="billing-heading">
      <h2 id="billing-heading">{isLicensed(account, bought) ? "Your licence" : "Choose a licence"}</h2>
      {live.filter(({ licence_until_ms }) => licence_until_ms > 0).length > 1 && (
        <Alert>
          You pay for more than one licence. Open “Manage billing” and cancel those you do not need.
        </Alert>
      )}
      {licence && <Licence licence={licence} />}
      <Offers offers={licences} kind="licence" accountId={account.id} />
      {licences.length > 0 && (
        <p className="quiet">You pay at Stripe, which sends the receipts. You can cancel at any time.</p>
      )}
      {bought.hasBought && (
        <form method="post" action={actions.openPortal.path}>
          <input type="hidden" name="account" value={account.id} />
          <button type="submit" className="plain">
            Manage billing
          </button>
        </form>
      )}
      {credits.length > 0 && <h2>Buy credits</h2>}
      <Offers offers={credits} kind="credits" accountId={account.id} />
    </section>
  );
}

const unpaidStates = ["past_due", "unpaid", "incomplete", "paused"];

/** When a licence renews, ends or ended, and what to pay so that it goes on. */
function Licence({ licence }: { licence: BillingSummary["subscriptions"][number] }) {
  const { status, ends_at_ms, period_ends_ms, licence_until_ms } = licence;
  const runs = licence_until_ms > 0;
  const isUnpaid = unpaidStates.includes(status);
  const words = !runs
    ? "Your licence ended on "
    : isUnpaid
      ? "It ends without a payment on "
      : ends_at_ms !== null
        ? "It is cancelled and ends on "
        : "It renews on ";
  return (
    <>
      {isUnpaid && (
        <Alert>
          {runs ? "Your last payment failed." : "Your licence is not paid."} Open “Manage billing” and pay it
          there
          {runs ? ", or the licence will end." : "; your company may run again as soon as it is paid."}
        </Alert>
      )}
      {status === "refunded" && <Alert>Your payment was returned to you, so the licence ended.</Alert>}
      {(runs || ends_at_ms !== null) && (
        <p>
          {words}
          <Clock atMs={ends_at_ms ?? period_ends_ms} shows="date" />.
        </p>
      )}
    </>
  );
}

function Alert({ children }: { children: ReactNode }) {
  return (
    <p className="problem ours" role="alert">
      {children}
    </p>
  );
}

type OffersProps = { offers: Offer[]; kind: "licence" | "credits"; accountId: string };

function Offers({ offers, kind, accountId }: OffersProps) {
  if (offers.length === 0) return null;
  return (
    <ul className="sessions">
      {offers.map(({ priceId, name, amount = "Price shown at checkout" }) => (
        <li key={priceId}>
          <div>
            <strong>{name}</strong>
            <p className="quiet">{amount}</p>
          </div>
          <form method="post" action={actions.beginCheckout.path}>
            <input type="hidden" name="account" value={accountId} />
            <button type="submit" name={kind} value={priceId} aria-label={`Buy ${name}`}>
              Buy
            </button>
          </form>
        </li>
      ))}
    </ul>
  );
}

type CheckoutNoteProps = { outcome: string | undefined; isLicensed: boolean };

/** Says how a checkout ended, to an owner who comes back from it. */
export function CheckoutNote({ outcome, isLicensed }: CheckoutNoteProps) {
  if (!outcome || !Object.hasOwn(outcomes, outcome) || !settings().billing) return null;
  const words = outcome === "bought" && !isLicensed ? outcomes.pending : outcomes[outcome];
  return (
    <p className="problem ours" role="status">
      {words}
    </p>
  );
}

const outcomes: Record<string, string> = {
  bought: "Thank you. Your purchase is complete.",
  pending:
    "Stripe has not confirmed your payment yet. Once it does, this page shows what you bought; do not buy it again.",
  cancelled: "You left the checkout. Nothing was bought, and nothing has changed.",
  licensed: "You already have a licence, so nothing was bought.",
};
