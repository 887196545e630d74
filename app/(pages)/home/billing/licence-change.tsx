import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { ChangeCost } from "@/lib/billing/licence/price-change";
import { moneyOfColumn } from "@/lib/config/money";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { PostForm } from "../../post-form";
import { NextCharge, paidInWords, type Terms } from "./charges";
import type { Changes, Offer } from "./offers";

type LicenceChangeProps = Required<Pick<Changes, "offer">> &
  Pick<Changes, "cost"> & { account: Account; terms: Terms | undefined };

/** The licence to which the owner may change, and what it costs now, as a sum. */
export function LicenceChange({ account, offer, cost, terms }: LicenceChangeProps) {
  return (
    <section className="card change-plan" id="change" aria-labelledby="change-heading">
      <h2 id="change-heading">
        Change to {offer.name}
        {offer.period && `, ${paidInWords(offer.period)}`}
      </h2>
      <p>
        {terms?.name && `You have ${[terms.name, terms.price].filter(Boolean).join(", ")}. `}
        Nothing changes before you confirm it at Stripe.
        {!cost && " What it costs now Stripe says before that; we cannot at the moment."}
      </p>
      {cost ? (
        <Cost offer={offer} cost={cost} />
      ) : (
        <dl className="sum">
          <Row name="New price">{priceOf(offer)}</Row>
        </dl>
      )}
      <div className="actions">
        <PostForm action={forms.openPortal.path} hidden={{ account: account.id }}>
          <button type="submit" name="licence" value={offer.priceId}>
            {cost?.at === "once" && cost.payment.amount > 0
              ? `Pay ${moneyOf(cost)(cost.payment.amount)} at Stripe`
              : "Continue at Stripe"}
          </button>
        </PostForm>
        <a className="button plain" href={pages.billing.path}>
          Keep your plan
        </a>
      </div>
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
        <NextRow atMs={cost.atMs}>{priceOf(offer)}</NextRow>
      </dl>
    );
  const { at, charged, credited, addedTax, untilMs, payment } = cost;
  const { amount, tax } = payment;
  const other = otherOf(cost);
  const money = moneyOf(cost);
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
          <NextRow atMs={untilMs}>{priceOf(offer)}</NextRow>
        </>
      ) : (
        <NextRow atMs={payment.atMs} isTotal>
          {sum}
        </NextRow>
      )}
    </dl>
  );
}

type Payable = Exclude<ChangeCost, { at: "period end" }>;

/** What discounts and credit at Stripe take off, or add to what is kept. */
const otherOf = ({ payment, charged, credited, addedTax }: Payable) =>
  payment.amount - (charged - credited + addedTax);

/** Writes the amounts of a change alike. */
function moneyOf(cost: Payable) {
  const { payment, charged, credited, addedTax } = cost;
  const { amount, tax, currency } = payment;
  return moneyOfColumn([amount, tax, charged, credited, addedTax, otherOf(cost)], currency);
}

type RowProps = { isTotal?: true; children: ReactNode };

const NextRow = ({ atMs, ...row }: RowProps & { atMs: number }) => (
  <Row name={<NextCharge onMs={atMs} />} {...row} />
);

const Row = ({ name, isTotal, children }: RowProps & { name: ReactNode }) => (
  <div data-is-total={isTotal}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
