import type { Account } from "@/lib/accounts/account";
import type { ChangeCost } from "@/lib/billing/licence/price-change";
import { moneyInWords } from "@/lib/config/money";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { PostForm } from "../../post-form";
import { OfferWords } from "./billing";
import type { Changes, Offer } from "./offers";

type LicenceChangeProps = NonNullable<Changes> & { account: Account };

/** The licences to which the owner may change, and what the chosen one costs now. */
export function LicenceChange({ account, offers, offer, cost }: LicenceChangeProps) {
  if (offers.length === 0) return null;
  return (
    <section className="card" id="change" aria-labelledby="change-heading">
      <h2 id="change-heading">{offer ? `Change to ${offer.name}` : "Change your licence"}</h2>
      {offer ? (
        <Chosen account={account} offer={offer} cost={cost} />
      ) : (
        <ul className="rows">
          {offers.map((one) => (
            <li key={one.priceId}>
              <OfferWords {...one} />
              <a
                className="button plain"
                href={`${pages.billing.path}?change=${one.priceId}#change`}
                aria-label={`What ${one.name} costs now`}
              >
                What it costs now
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

type ChosenProps = { account: Account; offer: Offer; cost: ChangeCost | undefined };

function Chosen({ account, offer, cost }: ChosenProps) {
  return (
    <>
      <OfferWords {...offer} />
      <p>
        <CostWords cost={cost} />
      </p>
      <PostForm action={forms.openPortal.path} hidden={{ account: account.id }}>
        <button type="submit" name="licence" value={offer.priceId}>
          Continue at Stripe
        </button>
      </PostForm>
      <p className="quiet">
        Nothing changes before you confirm it there.{" "}
        <a href={pages.billing.path}>Keep your licence as it is</a>
      </p>
    </>
  );
}

function CostWords({ cost }: { cost: ChangeCost | undefined }) {
  if (!cost) return "We cannot say at the moment what it costs now. Stripe does, before you confirm it.";
  if (cost.at === "period end")
    return (
      <>
        You pay nothing now: it begins on <Clock atMs={cost.atMs} shows="date" />, when your present period
        ends.
      </>
    );
  const { amount, tax, currency, atMs } = cost.payment;
  const taxWords = tax > 0 ? ` (${moneyInWords(tax, currency)} of it tax)` : "";
  const words = `${moneyInWords(amount, currency)}${taxWords}`;
  if (cost.at === "next payment")
    return (
      <>
        You pay nothing now. The next payment, on <Clock atMs={atMs} shows="date" />, is then {words}.
      </>
    );
  return amount > 0 ? `You pay ${words} now.` : "You pay nothing now.";
}
