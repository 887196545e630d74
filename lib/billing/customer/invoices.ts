import type { Stripe } from "stripe";
import { findAtStripe, idOf, listAtStripe } from "@/lib/billing/stripe/calls";
import { KeptReadings, readForPage } from "@/lib/billing/stripe/kept-readings";
import { perProcess } from "@/lib/per-process";
import type { readBilling } from "@/lib/plans/purchases";

const keptMs = 5 * 60 * 1000; // 5 minutes, and no longer than until something of the account is read again
const maxListed = 12;
const maxRead = 24; // drafts are among them
const maxCharges = 300;

/**
 * An invoice of a licence or of credits, with its amounts in the currency's smallest unit. `item` is what it is for: a price,
 * the period that it pays, whether it took another one's place, and what was taken off for that. `pdf` and `page` are Stripe's
 * addresses of its document and of the page on which it is paid. An open one is `charged` at that time, or `mailed` to be paid
 * by then, or charged no more, unless a bank `isPaying` it, which may take two weeks.
 */
export type Invoice = {
  id: string;
  atMs: number;
  status: Exclude<Stripe.Invoice.Status, "draft">;
  currency: string;
  total: number;
  due: number;
  paid: number;
  refunded: number;
  item:
    | {
        priceId: string;
        period: { fromMs: number; untilMs: number } | undefined;
        isChange: boolean;
        credited: number;
      }
    | undefined;
  pdf: string | undefined;
  page: string | undefined;
  next: { what: "charged" | "mailed"; atMs: number } | undefined;
  isPaying: boolean;
  subscription: string | undefined;
};

export type Invoices = { listed: Invoice[]; hasMore: boolean };

const readings = perProcess("invoices", () => new KeptReadings<Invoices>(keptMs));

/**
 * The newest twelve invoices of an account's customer at Stripe, newest first, for a page; `undefined` if Stripe does not say
 * so in time. For an account that has bought nothing, Stripe is not asked.
 */
export async function readInvoicesOf(
  { customerId, hasBought, readAtMs }: Awaited<ReturnType<typeof readBilling>>,
  nowMs: number,
): Promise<Invoices | undefined> {
  if (!customerId || !hasBought) return { listed: [], hasMore: false };
  return readForPage(readings().read(`${customerId} ${readAtMs}`, nowMs, () => readInvoices(customerId)));
}

async function readInvoices(customer: string): Promise<Invoices> {
  const asked = { customer, limit: maxRead, expand: ["data.payments"] };
  const { data = [], has_more = false } = (await findAtStripe((stripe) => stripe.invoices.list(asked))) ?? {};
  const sent = data.filter(({ status }) => status !== "draft"); // it may still change
  const shown = sent.slice(0, maxListed);
  const charged = await readCharged(customer, shown.flatMap(intentsOf));
  return {
    listed: shown.map((one) => toInvoice(one, charged)),
    hasMore: has_more || sent.length > maxListed,
  };
}

function toInvoice(invoice: Stripe.Invoice, charged: Map<string, Charged>): Invoice {
  const { id, created, status, currency, total, amount_remaining, amount_paid } = invoice;
  const payments = intentsOf(invoice).flatMap((intent) => charged.get(intent) ?? []);
  const returned = payments.reduce((sum, { refunded }) => sum + refunded, 0);
  const { subscription } = invoice.parent?.subscription_details ?? {};
  return {
    id,
    atMs: created * 1000,
    status: status as Invoice["status"],
    currency,
    total,
    due: amount_remaining,
    paid: amount_paid,
    refunded: Math.min(returned, amount_paid),
    item: itemOf(invoice),
    pdf: secureAddress(invoice.invoice_pdf),
    page: secureAddress(invoice.hosted_invoice_url),
    next: nextOf(invoice),
    isPaying: status === "open" && payments.some(({ isPending }) => isPending),
    subscription: subscription && idOf(subscription),
  };
}

/** What an invoice charges for: the line that lasts longest, of those that add to the sum. */
function itemOf({ lines, billing_reason }: Stripe.Invoice): Invoice["item"] {
  const charged = lines.data.filter(({ amount, pricing }) => !(amount < 0) && pricing?.price_details);
  const [line] = charged.toSorted((one, other) => other.period.end - one.period.end);
  const price = line?.pricing?.price_details?.price;
  if (!line || !price) return undefined;
  const { start, end } = line.period;
  return {
    priceId: idOf(price),
    period: end !== start ? { fromMs: start * 1000, untilMs: end * 1000 } : undefined,
    isChange: billing_reason === "subscription_update",
    credited: -lines.data.reduce((sum, { amount }) => sum + Math.min(0, amount), 0),
  };
}

function nextOf({ next_payment_attempt, due_date }: Stripe.Invoice): Invoice["next"] {
  if (next_payment_attempt) return { what: "charged", atMs: next_payment_attempt * 1000 };
  return due_date ? { what: "mailed", atMs: due_date * 1000 } : undefined;
}

const secureAddress = (address: string | null | undefined) =>
  address?.startsWith("https://") ? address : undefined;

const intentsOf = ({ payments }: Stripe.Invoice): string[] =>
  (payments?.data ?? []).flatMap(({ payment }) =>
    payment.payment_intent ? idOf(payment.payment_intent) : [],
  );

/** How much of a payment was refunded, and whether a bank has yet to answer it. */
type Charged = { refunded: number; isPending: boolean };

/**
 * What became of payments, by their ids: an invoice does not say so. The newest 300 charges are looked at, of which the one that
 * paid is the latest of its payment.
 */
async function readCharged(customer: string, intents: string[]): Promise<Map<string, Charged>> {
  const charged = new Map<string, Charged>();
  if (intents.length === 0) return charged;
  let read = 0;
  for await (const charge of listAtStripe((stripe, page) => stripe.charges.list({ customer, ...page }))) {
    const intent = charge.payment_intent ? idOf(charge.payment_intent) : "";
    const { refunded = 0, isPending = false } = charged.get(intent) ?? {};
    charged.set(intent, {
      refunded: refunded + charge.amount_refunded,
      isPending: isPending || charge.status === "pending",
    });
    if (++read === maxCharges || intents.every((intent) => charged.has(intent))) break;
  }
  return charged;
}
