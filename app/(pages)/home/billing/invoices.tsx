import { type Invoice, type Invoices as Read, readInvoicesOf } from "@/lib/billing/customer/invoices";
import { hasEnded } from "@/lib/billing/stripe/calls";
import { moneyOfColumn } from "@/lib/config/money";
import type { Plans } from "@/lib/plans/plan";
import { Clock } from "../../clock";
import { formatInstant } from "../../instant";
import { type Purchases, readOffersOf } from "./offers";

type Named = Omit<Read, "listed"> & { listed: NamedInvoice[] };
type NamedInvoice = Invoice & {
  name: string | undefined;
  /** Whether the plan that it is for has ended. */
  isOfEnded: boolean;
};

/** The newest invoices of an account, each with the name of what it is for; `undefined` if Stripe does not say so in time. */
export async function readInvoices(
  bought: Purchases,
  plans: Plans,
  nowMs: number,
): Promise<Named | undefined> {
  const read = await readInvoicesOf(bought, nowMs);
  if (!read) return undefined;
  const prices = read.listed.map(({ item }) => item?.priceId);
  const offers = await readOffersOf(prices, plans, nowMs);
  const ended = bought.subscriptions.filter(hasEnded).map(({ id }) => id);
  const listed = read.listed.map((one) => ({
    ...one,
    name: offers.get(one.item?.priceId ?? "")?.name,
    isOfEnded: one.subscription !== undefined && ended.includes(one.subscription),
  }));
  return { ...read, listed };
}

/** The newest invoices of the account, with Stripe's documents; in words while Stripe cannot say which there are. */
export function Invoices({ read }: { read: Named | undefined }) {
  if (read?.listed.length === 0) return null;
  return (
    <section className="card" id="invoices" aria-labelledby="invoices-heading">
      <h2 id="invoices-heading">Invoices</h2>
      {read ? (
        <Entries listed={read.listed} />
      ) : (
        <p>We cannot show your invoices at the moment; “Manage billing” does.</p>
      )}
      {read?.hasMore && (
        <p className="quiet">
          The latest {read.listed.length} invoices; “Manage billing” has the older ones.
        </p>
      )}
    </section>
  );
}

const shownAtOnce = 4;

/** The first of them, and the others folded away. */
function Entries({ listed }: Pick<Named, "listed">) {
  const more = listed.slice(shownAtOnce);
  const amounts = listed.flatMap(({ total, refunded, due }) => [total, refunded, due]);
  return (
    <>
      <ol className="entries">
        {listed.slice(0, shownAtOnce).map((invoice) => (
          <InvoiceEntry key={invoice.id} invoice={invoice} amounts={amounts} />
        ))}
      </ol>
      {more.length > 0 && (
        <details>
          <summary>Show {more.length} more</summary>
          <ol className="entries">
            {more.map((invoice) => (
              <InvoiceEntry key={invoice.id} invoice={invoice} amounts={amounts} />
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

export const hasOpen = (read: Read | undefined) => (read?.listed ?? []).some(isToPay);

const isToPay = ({ status, isPaying }: Invoice) => status === "open" && !isPaying;

/** @param amounts - those of all invoices, which are written alike */
function InvoiceEntry({ invoice, amounts }: { invoice: NamedInvoice; amounts: number[] }) {
  const { atMs, name = "Invoice", item, status, currency, total, paid, refunded, pdf, page } = invoice;
  const money = moneyOfColumn(amounts, currency);
  const isReturned = refunded > 0 && refunded === paid;
  const day = formatInstant(atMs, "date", "UTC");
  return (
    <li>
      <span>
        {item?.isChange ? `Change to ${name}` : name}
        {item?.period && !isReturned && (
          <>
            {", "}
            <Clock atMs={item.period.fromMs} shows="date" /> to{" "}
            <Clock atMs={item.period.untilMs} shows="date" />
          </>
        )}
      </span>
      <em className="tag" data-colour={isToPay(invoice) ? "stopped" : undefined}>
        {describeState(invoice, money)}
      </em>
      <Clock atMs={atMs} shows="date" />
      <b>
        {money(total)}
        {refunded > 0 && <small>{money(-refunded)} refunded</small>}
      </b>
      <small>
        {isToPay(invoice) && page && (
          <a href={page} rel="noopener noreferrer" aria-label={`Pay the invoice of ${day}`}>
            Pay
          </a>
        )}{" "}
        {pdf && (
          <a href={pdf} rel="noopener noreferrer" aria-label={`PDF of the invoice of ${day}`}>
            PDF
          </a>
        )}
      </small>
      {status === "open" && <NextStep {...invoice} />}
    </li>
  );
}

/** What Stripe does about an open invoice: a subscription is active next to an older one, which may be charged yet. */
function NextStep({ next, isPaying, isOfEnded }: Pick<NamedInvoice, "next" | "isPaying" | "isOfEnded">) {
  if (isPaying)
    return <p className="quiet">Your bank is paying it, which may take two weeks. Do not pay it again.</p>;
  if (isOfEnded)
    return <p className="quiet">It is for a plan that has ended: paying it does not bring that back.</p>;
  if (!next) return <p className="quiet">Stripe does not charge it again by itself.</p>;
  return (
    <p className="quiet">
      {next.what === "charged" ? "Stripe charges it again on" : "It is due on"}{" "}
      <Clock atMs={next.atMs} shows="date" />.
    </p>
  );
}

function describeState(
  { status, total, due, paid, refunded, isPaying }: Invoice,
  money: (amount: number) => string,
) {
  if (isPaying) return "At your bank";
  if (status === "open") return due === total ? "Unpaid" : `Unpaid, ${money(due)} to pay`;
  if (status === "void") return "Void, nothing to pay";
  if (status === "uncollectible") return "Not paid, and written off";
  if (refunded > 0) return refunded === paid ? "Refunded" : "Partly refunded";
  return total < 0 ? "Credited" : "Paid";
}
