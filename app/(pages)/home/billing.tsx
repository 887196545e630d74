import type { Account } from "@/lib/accounts/account";
import { type BillingSummary, readBilling } from "@/lib/billing/customer";
import { type Offer, readOffers } from "@/lib/billing/prices";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";
import { Clock } from "../clock";

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

const isLicensed = ({ plan }: Account, { licence }: BillingSummary) =>
  plan === "licensed" || licence !== undefined;

/** The offers to the account, and the licence that it has bought. */
export function Billing({ account, bought, offers: { licences, credits } }: BillingProps) {
  if (licences.length + credits.length === 0 && !bought.hasBought) return null;
  return (
    <section className="billing" id="billing" aria-labelledby="billing-heading">
      <h2 id="billing-heading">{isLicensed(account, bought) ? "Your licence" : "Choose a licence"}</h2>
      {bought.licence && <Licence licence={bought.licence} />}
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

function Licence({ licence }: { licence: NonNullable<BillingSummary["licence"]> }) {
  const isPastDue = licence.status === "past_due";
  return (
    <>
      {isPastDue && (
        <p className="problem ours" role="alert">
          Your last payment failed. Open “Manage billing” and check your card, or the licence will end.
        </p>
      )}
      <p>
        {licence.ends_at_ms !== null
          ? "It is cancelled and ends on "
          : isPastDue
            ? "Its period ends on "
            : "It renews on "}
        <Clock atMs={licence.ends_at_ms ?? licence.period_ends_ms} shows="date" />.
      </p>
    </>
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
