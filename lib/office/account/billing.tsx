import type { FactRows } from "@/lib/accounts/explanation";
import { readAmount } from "@/lib/billing/prices/prices";
import { moneyInWords } from "@/lib/config/money";
import { AtStripe, Instant } from "@/lib/office/values";
import { describeDue, licenceStateOf } from "@/lib/plans/licence-state";

/** What was bought at Stripe: the subscriptions of its customer. */
export async function showBilling({ customers, subscriptions }: Bought, nowMs: number) {
  const [customer] = customers;
  if (!customer) return null;
  const amounts = await Promise.all(
    subscriptions.map(
      ({ price_id, currency }) => price_id && readAmount(price_id, currency ?? undefined, nowMs),
    ),
  );
  return (
    <section>
      <h2>Billing</h2>
      <p>
        Customer at Stripe: <AtStripe kind="customers" id={customer.customer_id} />
        {subscriptions.length === 0 && ". No subscription."}
      </p>
      {subscriptions.map((subscription, at) => (
        <Subscription key={subscription.id} {...subscription} amount={amounts[at]} />
      ))}
    </section>
  );
}

type Bought = Pick<FactRows, "customers" | "subscriptions">;

type SubscriptionProps = FactRows["subscriptions"][number] & { amount: string | null | undefined };

function Subscription({ amount, ...subscription }: SubscriptionProps) {
  const { id, status, price_id, period_ends_ms, ends_at_ms, invoice_id, invoice_status } = subscription;
  const state = [...new Set([status.replace("_", " "), licenceStateOf(subscription)])].join(", ");
  return (
    <dl className="subscription">
      <dt>Subscription</dt>
      <dd>
        <b>{amount ?? price_id ?? "No price"}</b>, {state}{" "}
        <small>
          <AtStripe kind="subscriptions" id={id} /> {amount && price_id}
        </small>
      </dd>
      <dt>Period ends</dt>
      <dd>
        <Instant atMs={period_ends_ms} />
      </dd>
      {ends_at_ms !== null && (
        <>
          <dt>Licence ends</dt>
          <dd>
            <Instant atMs={ends_at_ms} />
          </dd>
        </>
      )}
      {invoice_id && (
        <>
          <dt>Last invoice</dt>
          <dd>
            {[invoice_status, describeDue(subscription, moneyInWords)].filter(Boolean).join(", ")}{" "}
            <small>
              <AtStripe kind="invoices" id={invoice_id} />
            </small>
          </dd>
        </>
      )}
    </dl>
  );
}
