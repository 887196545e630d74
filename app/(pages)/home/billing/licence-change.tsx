import type { Account } from "@/lib/accounts/account";
import type { ChangeCost } from "@/lib/billing/licence/price-change";
import { moneyInWords } from "@/lib/config/money";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { PostForm } from "../../post-form";
import type { Changes } from "./offers";
import { Fact } from "./what-runs";

type LicenceChangeProps = Required<Pick<Changes, "offer">> & Pick<Changes, "cost"> & { account: Account };

/** The licence to which the owner may change, and what it costs now. */
export function LicenceChange({ account, offer, cost }: LicenceChangeProps) {
  return (
    <section className="card" id="change" aria-labelledby="change-heading">
      <h2 id="change-heading">Change to {offer.name}</h2>
      <dl className="what-runs">
        {cost && <CostFacts cost={cost} />}
        <Fact name="New price" note={offer.month && `that is ${offer.month}`}>
          {offer.amount ?? "Price shown at checkout"}
        </Fact>
      </dl>
      {!cost && <p>We cannot say at the moment what it costs now. Stripe does, before you confirm it.</p>}
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

function CostFacts({ cost }: { cost: ChangeCost }) {
  if (cost.at === "period end")
    return (
      <Fact
        name="You pay now"
        note={
          <>
            it begins on <Clock atMs={cost.atMs} shows="date" />, when your present period ends
          </>
        }
      >
        Nothing
      </Fact>
    );
  const { amount, tax, currency, atMs } = cost.payment;
  const ofItTax = tax > 0 && `${moneyInWords(tax, currency)} of it is tax`;
  const sum = amount > 0 ? moneyInWords(amount, currency) : "Nothing";
  if (cost.at === "once")
    return (
      <Fact
        name="You pay now"
        note={
          amount > 0 && ["what you paid and have not used is taken off", ofItTax].filter(Boolean).join("; ")
        }
      >
        {sum}
      </Fact>
    );
  return (
    <>
      <Fact name="You pay now">Nothing</Fact>
      <Fact
        name="Next charge"
        note={
          <>
            on <Clock atMs={atMs} shows="date" />
            {ofItTax && `; ${ofItTax}`}
          </>
        }
      >
        {sum}
      </Fact>
    </>
  );
}
