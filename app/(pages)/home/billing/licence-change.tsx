import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { ChangeCost } from "@/lib/billing/licence/price-change";
import { moneyOfColumn } from "@/lib/config/money";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { PostForm } from "../../post-form";
import type { Changes, Offer } from "./offers";
import { paidInWords } from "./what-runs";

type LicenceChangeProps = Required<Pick<Changes, "offer">> & Pick<Changes, "cost"> & { account: Account };

/** The licence to which the owner may change, and what it costs now, as a sum. */
export function LicenceChange({ account, offer, cost }: LicenceChangeProps) {
  return (
    <section className="card" id="change" aria-labelledby="change-heading">
      <h2 id="change-heading">
        Change to {offer.name}
        {offer.period && `, ${paidInWords(offer.period)}`}
      </h2>
      {cost ? (
        <Cost offer={offer} cost={cost} />
      ) : (
        <>
          <dl className="sum">
            <Row name="New price">{priceOf(offer)}</Row>
          </dl>
          <p>We cannot say at the moment what it costs now. Stripe does, before you confirm it.</p>
        </>
      )}
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

const priceOf = ({ amount = "Price shown at checkout" }: Offer) => amount;

/** What is added and taken off, what it comes to now, and the charge after that. */
function Cost({ offer, cost }: { offer: Offer; cost: ChangeCost }) {
  if (cost.at === "period end")
    return (
      <dl className="sum">
        <Row name="You pay now" isTotal>
          Nothing
        </Row>
        <NextCharge atMs={cost.atMs}>{priceOf(offer)}</NextCharge>
      </dl>
    );
  const { at, charged, credited, addedTax, untilMs, payment } = cost;
  const { amount, tax, currency } = payment;
  const other = amount - (charged - credited + addedTax);
  const money = moneyOfColumn([amount, tax, charged, credited, addedTax, other], currency);
  const sum = (
    <>
      {amount > 0 ? money(amount) : "Nothing"}
      {tax > 0 && addedTax === 0 && <small>{money(tax)} of it is tax</small>}
    </>
  );
  return (
    <dl className="sum">
      {at === "next payment" && <Row name="You pay now">Nothing</Row>}
      <Row
        name={
          <>
            {offer.name} until <Clock atMs={untilMs} shows="date" />
          </>
        }
      >
        {money(charged)}
      </Row>
      {credited > 0 && <Row name="Less what you paid and have not used">{money(-credited)}</Row>}
      {addedTax > 0 && <Row name="Tax">{money(addedTax)}</Row>}
      {other < 0 && <Row name="Less your discount or credit">{money(other)}</Row>}
      {other > 0 && <Row name="Kept for your next charges">{money(other)}</Row>}
      {at === "once" ? (
        <>
          <Row name="You pay now" isTotal>
            {sum}
          </Row>
          <NextCharge atMs={untilMs}>{priceOf(offer)}</NextCharge>
        </>
      ) : (
        <NextCharge atMs={payment.atMs} isTotal>
          {sum}
        </NextCharge>
      )}
    </dl>
  );
}

type RowProps = { isTotal?: true; children: ReactNode };

const NextCharge = ({ atMs, ...row }: RowProps & { atMs: number }) => (
  <Row
    name={
      <>
        Next charge, on <Clock atMs={atMs} shows="date" />
      </>
    }
    {...row}
  />
);

const Row = ({ name, isTotal, children }: RowProps & { name: ReactNode }) => (
  <div data-is-total={isTotal}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
