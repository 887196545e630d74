import type { Account } from "@/lib/accounts/account";
import type { ChangeCost } from "@/lib/billing/licence/price-change";
import { moneyInWords } from "@/lib/config/money";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { OfferPrice } from "../../plan-cards";
import { PostForm } from "../../post-form";
import type { Changes } from "./offers";

type LicenceChangeProps = Required<Pick<Changes, "offer">> & Pick<Changes, "cost"> & { account: Account };

/** The licence to which the owner may change, and what it costs now. */
export function LicenceChange({ account, offer, cost }: LicenceChangeProps) {
  return (
    <section className="card" id="change" aria-labelledby="change-heading">
      <h2 id="change-heading">Change to {offer.name}</h2>
      <p>
        <OfferPrice {...offer} />
      </p>
      <p>
        <CostWords cost={cost} />
      </p>
      <PostForm action={forms.openPortal.path} hidden={{ account: account.id }}>
        <button type="submit" name="licence" value={offer.priceId}>
          Continue at Stripe
        </button>
      </PostForm>
      <p className="quiet">
        Nothing changes before you confirm it there. <a href={pages.billing.path}>Keep your plan as it is</a>
      </p>
    </section>
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
  return amount > 0
    ? `You pay ${words} now. What you paid and have not used is taken off.`
    : "You pay nothing now.";
}
