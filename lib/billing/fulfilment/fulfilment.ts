import type { Stripe } from "stripe";
import { resolveBuyer } from "@/lib/billing/customer/customer";
import { keepPayments } from "@/lib/billing/customer/purchases";
import { type Checkout, findCheckout, settleCheckout } from "@/lib/billing/fulfilment/bought-credits";
import { fulfilSubscription } from "@/lib/billing/licence/subscription";
import { creditsOf } from "@/lib/billing/prices/prices";
import { endAtStripe, findAtStripe, idOf } from "@/lib/billing/stripe/calls";
import {
  findPaidBy,
  isPaid,
  isWhollyReturned,
  readPayment,
  readPaymentsOf,
} from "@/lib/billing/stripe/payments";
import type { Db } from "@/lib/db/store";
import { requireBilling } from "@/lib/http/checks/billing";
import { listSold } from "@/lib/plans/plan-prices";
import { recordOutage } from "@/lib/runtime/dependency-outages";
import { metrics } from "@/lib/runtime/metrics";

/** An object at Stripe, by its id: a checkout session, a subscription or a payment intent. */
export type Purchase = { checkout: string } | { subscription: string } | { payment: string };

/**
 * Gives an account what was bought, or takes back what ended. It reads the object at Stripe, so the order of events does
 * not matter, and stores what it did by Stripe's ids, so a repetition changes nothing. It ignores what is none of ours.
 * Throws if Stripe or the store fails; it can then be repeated.
 */
export async function fulfil(db: Db, purchase: Purchase, event: string, nowMs: number): Promise<void> {
  try {
    if ("subscription" in purchase) await fulfilSubscription(db, purchase.subscription, event, nowMs);
    else if ("checkout" in purchase) await fulfilCheckout(db, purchase.checkout, event, nowMs);
    else await fulfilPayment(db, purchase.payment, event, nowMs);
    recordOutage("fulfilment", false);
  } catch (failure) {
    metrics()?.purchases.inc({ outcome: "failed" });
    recordOutage("fulfilment", true);
    throw failure;
  }
}

/**
 * A payment is refunded or disputed, but its checkout or its subscription says what was bought. One that our Stripe account
 * does not have is a connected account's.
 */
async function fulfilPayment(db: Db, payment_intent: string, event: string, nowMs: number): Promise<void> {
  const asked = { payment_intent, limit: 1 };
  const { data = [] } = (await findAtStripe((stripe) => stripe.checkout.sessions.list(asked))) ?? {};
  for (const { id } of data) await fulfilCheckout(db, id, event, nowMs);
  if (data.length > 0) return;
  for (const paid of await findPaidBy(payment_intent)) {
    if ("invoice" in paid) {
      await fulfilCheckout(db, paid.invoice, event, nowMs);
      continue;
    }
    const { subscription, payments } = paid;
    await fulfilSubscription(db, subscription, event, nowMs);
    const known = db.selectFrom("billing_subscriptions").select("account_id").where("id", "=", subscription);
    const { account_id } = (await known.executeTakeFirst()) ?? {};
    if (account_id) await keepPayments(db, account_id, subscription, payments);
  }
}

const maxReadings = 5;

/**
 * Reads a checkout, or the invoice of an automatic purchase, at Stripe: gives its credits once it is paid, takes back what
 * was refunded or lost in a dispute, and gives that again when the refund fails. A reading during which another one was
 * stored is repeated, because it may be older. A licence is its subscription's.
 */
async function fulfilCheckout(db: Db, id: string, event: string, nowMs: number): Promise<void> {
  for (let tries = 0; tries < maxReadings; tries++) {
    const before = await findCheckout(db, id);
    const read = id.startsWith("in_") ? await readTopUp(id) : await readSession(db, id);
    if (!read) return;
    const { session, payment } = read;
    const isReturned = payment !== undefined && isWhollyReturned(payment);
    const { kind, price_id } = read.sale;
    const isOurs = (await listPrices(db, kind)).includes(price_id);
    const buyer = await resolveBuyer(
      db,
      session,
      { isOurs, isCharged: read.isCharged && !isReturned },
      nowMs,
    );
    if (session.subscription) await fulfilSubscription(db, idOf(session.subscription), event, nowMs);
    if (!buyer) return;
    const known = before ?? (await keepCheckout(db, buyer.id, session, read.sale));
    if (!known) return;
    const state = read.state ?? known.state;
    const reading = { buyer, known, state, session, payment, event };
    if ((await settleCheckout(db, reading, nowMs)) === "outdated") continue;
    if (payment) await keepPayments(db, buyer.id, id, [payment]);
    return;
  }
  throw new Error("a checkout changed while it was read");
}

async function readSession(db: Db, id: string) {
  const expand = ["customer", "line_items", "payment_intent.latest_charge"];
  const session = await findAtStripe((stripe) => stripe.checkout.sessions.retrieve(id, { expand }));
  if (!session) return undefined;
  const kind = session.mode === "subscription" ? "licence" : "credits";
  const sale = saleOf(session, kind, await listPrices(db, kind));
  if (!sale) return undefined;
  const charge = chargeOf(session);
  return {
    session,
    sale,
    state: stateOf(session),
    isCharged: session.status === "complete" && session.payment_status !== "unpaid",
    payment: charge && isPaid(charge) ? await readPayment(charge) : undefined,
  };
}

/** The invoice of an automatic purchase, as a checkout would be; `undefined` for any other invoice. */
async function readTopUp(id: string) {
  const expand = ["customer"];
  const invoice = await findAtStripe((stripe) => stripe.invoices.retrieve(id, { expand }));
  if (!invoice?.metadata?.top_up) return undefined;
  const { status, metadata, customer, created, total, currency } = invoice;
  const { price: price_id = "", thousandths } = metadata;
  const isPaid = status === "paid";
  const states: Partial<Record<string, string>> = {
    paid: "fulfilled",
    void: "failed",
    uncollectible: "failed",
  };
  return {
    session: {
      id,
      customer,
      metadata,
      created,
      amount_total: total,
      currency,
      status: null,
      subscription: null,
    },
    sale: { kind: "top-up", price_id, thousandths: Number(thousandths) || 0 },
    state: states[status ?? ""],
    isCharged: isPaid,
    payment: isPaid ? (await readPaymentsOf(id))[0] : undefined,
  };
}

/** The prices that are sold now, of licences or of credits. */
const listPrices = async (db: Db, kind: string): Promise<readonly string[]> =>
  kind === "licence" ? (await listSold(db)).map(({ id }) => id) : requireBilling().creditPrices;

/** What a checkout sells: as ours says, or by the price of one that a Payment Link made; `undefined` if it is not ours. */
function saleOf({ metadata, line_items }: Stripe.Checkout.Session, kind: string, sold: readonly string[]) {
  if (metadata?.account)
    return { kind, price_id: metadata.price ?? "", thousandths: Number(metadata.thousandths) || 0 };
  const items = (line_items?.data ?? []).flatMap(({ price, quantity }) =>
    price && sold.includes(price.id) ? [{ price, quantity: quantity ?? 1 }] : [],
  );
  const [first] = items;
  if (!first) return undefined;
  const credits = items.reduce((sum, { price, quantity }) => sum + (creditsOf(price) ?? 0) * quantity, 0);
  return { kind, price_id: first.price.id, thousandths: kind === "credits" ? credits * 1000 : 0 };
}

/** Stores a checkout of a Payment Link, or that a restored store lacks. Next to a newer open one it is ended. */
async function keepCheckout(
  db: Db,
  account_id: string,
  { id, status, created }: Pick<Stripe.Checkout.Session, "id" | "status" | "created">,
  sale: NonNullable<ReturnType<typeof saleOf>>,
): Promise<Checkout | undefined> {
  const state = status === "open" ? "open" : "unpaid";
  await db
    .insertInto("billing_checkouts")
    .values({ id, account_id, ...sale, state, created_at_ms: created * 1000, session_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const kept = await findCheckout(db, id);
  if (!kept && state === "open") await endAtStripe(id);
  else if (!kept) throw new Error("a checkout could not be stored");
  return kept;
}

/** The state of a checkout that is no longer open; a licence's is fulfilled once its subscription is stored. */
function stateOf(session: Stripe.Checkout.Session): string | undefined {
  const { mode, status, payment_status, payment_intent } = session;
  if (status !== "complete") return status === "expired" ? status : undefined;
  if (mode === "subscription" || payment_status !== "unpaid") return "fulfilled";
  const payment = typeof payment_intent === "object" ? payment_intent?.status : undefined;
  return payment === "requires_payment_method" || payment === "canceled" ? "failed" : "unpaid";
}

function chargeOf({ payment_intent }: Stripe.Checkout.Session): Stripe.Charge | undefined {
  const charge = typeof payment_intent === "object" ? payment_intent?.latest_charge : undefined;
  return charge && typeof charge === "object" ? charge : undefined;
}
