import type { Selectable } from "kysely";
import type { Stripe } from "stripe";
import { writeCreditEntry } from "@/lib/accounts/ledger";
import { keepCustomer } from "@/lib/billing/customer";
import { settleLicence } from "@/lib/billing/licence";
import { limitOf } from "@/lib/billing/prices";
import { findAtStripe, readAtStripe, requireBilling } from "@/lib/billing/stripe";
import { auditedTransaction, recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";

/** An object at Stripe, by its id: a checkout session, a subscription or a payment intent. */
export type Purchase = { checkout: string } | { subscription: string } | { payment: string };

/** The events at Stripe by which a purchase is settled or ends, and what their object is. */
export const purchaseEvents: Readonly<Partial<Record<string, "checkout" | "subscription" | "charge">>> = {
  "checkout.session.completed": "checkout",
  "checkout.session.async_payment_succeeded": "checkout",
  "checkout.session.async_payment_failed": "checkout",
  "checkout.session.expired": "checkout",
  "customer.subscription.created": "subscription",
  "customer.subscription.updated": "subscription",
  "customer.subscription.deleted": "subscription",
  "customer.subscription.paused": "subscription",
  "customer.subscription.resumed": "subscription",
  "charge.refunded": "charge",
};

/** The event that last made us read an object at Stripe, for `billing show`. */
type Cause = { event: string; nowMs: number };

/**
 * Gives an account what was bought, or takes back what ended. It reads the object at Stripe, so the order of events does
 * not matter, and stores what it did by Stripe's ids, so a repetition changes nothing. It ignores what is none of ours.
 * Throws if Stripe or the store fails; it can then be repeated.
 */
export async function fulfil(db: Db, purchase: Purchase, event: string, nowMs: number): Promise<void> {
  const cause = { event, nowMs };
  try {
    if ("subscription" in purchase) await fulfilSubscription(db, purchase.subscription, cause);
    else if ("checkout" in purchase) await fulfilCheckout(db, purchase.checkout, cause);
    else await fulfilPayment(db, purchase.payment, cause);
  } catch (failure) {
    metrics()?.purchases.inc({ outcome: "failed" });
    throw failure;
  }
}

/** A payment is refunded, but its checkout says what was bought. */
async function fulfilPayment(db: Db, payment_intent: string, cause: Cause): Promise<void> {
  const { data } = await readAtStripe((stripe) =>
    stripe.checkout.sessions.list({ payment_intent, limit: 1 }),
  );
  for (const { id } of data) await fulfilCheckout(db, id, cause);
}

async function fulfilCheckout(db: Db, id: string, cause: Cause): Promise<void> {
  const expand = ["payment_intent.latest_charge"];
  const session = await findAtStripe((stripe) => stripe.checkout.sessions.retrieve(id, { expand }));
  const buyer = session?.metadata?.account && (await findBuyer(db, session, cause.nowMs));
  if (!session || !buyer) return;
  if (session.subscription) await fulfilSubscription(db, idOf(session.subscription), cause);
  await settleCheckout(db, buyer, session, cause);
}

const maxReadings = 5;

/**
 * Stores a subscription as Stripe has it. A reading during which another one was stored is repeated, because it may be
 * older.
 */
async function fulfilSubscription(db: Db, id: string, { event, nowMs }: Cause): Promise<void> {
  for (let reading = 0; reading < maxReadings; reading++) {
    const { version = 0 } = (await findSubscription(db, id)) ?? {};
    const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id));
    if (!subscription || !(version > 0 || isLicence(subscription))) return;
    const buyer = await findBuyer(db, subscription, nowMs);
    if (!buyer) return;
    const licenceUntilMs = await readLicenceEnd(subscription);
    const what = `subscription ${subscription.status}`;
    const isStored = await changeAccount(db, buyer, what, nowMs, async (transaction, account) => {
      const known = await findSubscription(transaction, id);
      if ((known?.version ?? 0) !== version) return false;
      await storeSubscription(transaction, buyer.id, subscription, licenceUntilMs, known);
      await settleLicence(transaction, account, nowMs);
      return true;
    });
    if (!isStored) continue;
    const noted = db.updateTable("billing_subscriptions").set({ last_event: event, last_event_at_ms: nowMs });
    await noted.where("id", "=", id).execute();
    return;
  }
  throw new Error("a subscription changed while it was read");
}

/** Whether a subscription is for a licence of ours: from our checkout, or for a price that we sell. */
function isLicence({ metadata, items }: Stripe.Subscription): boolean {
  const { licencePrices } = requireBilling();
  return metadata.account !== undefined || items.data.some(({ price }) => licencePrices.includes(price.id));
}

type Buyer = { id: string; email: string };
type Reference = string | { id: string };

const idOf = (reference: Reference) => (typeof reference === "string" ? reference : reference.id);

/**
 * Finds the account that a purchase is for, by its customer or by the id that our checkout gave it. If the account was
 * deleted meanwhile, the audit says so, once.
 */
async function findBuyer(
  db: Db,
  { id, customer, metadata }: { id: string; customer: Reference | null; metadata: Stripe.Metadata | null },
  nowMs: number,
): Promise<Buyer | undefined> {
  const customerId = customer ? idOf(customer) : "";
  const accounts = db.selectFrom("accounts").select(["accounts.id", "accounts.email"]);
  const known = await accounts
    .innerJoin("billing_customers", "billing_customers.account_id", "accounts.id")
    .where("customer_id", "=", customerId)
    .executeTakeFirst();
  if (known || !metadata?.account) return known;
  const named = await accounts.where("accounts.id", "=", metadata.account).executeTakeFirst();
  if (named) {
    await keepCustomer(db, named.id, customerId, nowMs);
    return named;
  }
  const what = "purchase without account";
  const entries = db.selectFrom("audit_entries").select("id").where("whom", "=", id).where("what", "=", what);
  if (await entries.executeTakeFirst()) return undefined;
  log().warn(
    { purchase: id },
    "the account of a purchase is deleted, so nothing was given: refund it at Stripe",
  );
  await recordAudit(db, { by: "stripe", what, whom: id, after: { given: "nothing" } }, nowMs);
  return undefined;
}

/** Changes an account, whose row it locks. Returns `undefined` if the account is gone. */
async function changeAccount<T>(
  db: Db,
  { id, email: whom }: Buyer,
  what: string,
  nowMs: number,
  work: (transaction: Db, account: Tables["accounts"]) => Promise<T>,
): Promise<T | undefined> {
  const look = (transaction: Db) =>
    transaction.selectFrom("accounts").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  return auditedTransaction(db, { by: "stripe", what, whom, look }, nowMs, async (transaction) => {
    const account = await look(transaction);
    return account && work(transaction, account);
  });
}

function findSubscription(db: Db, id: string): Promise<Tables["billing_subscriptions"] | undefined> {
  return db.selectFrom("billing_subscriptions").selectAll().where("id", "=", id).executeTakeFirst();
}

const licenceStates = ["active", "trialing", "past_due"];
const farFutureMs = Date.UTC(9999, 11, 31);

/** Until when a subscription is a licence: while it is active or past due, and else to the end of what was paid. */
async function readLicenceEnd({ id, status }: Stripe.Subscription): Promise<number> {
  if (licenceStates.includes(status)) return farFutureMs;
  const newest = { subscription: id, status: "paid", limit: 10 } as const;
  const { data } = await readAtStripe((stripe) => stripe.invoices.list(newest));
  return Math.max(0, ...data.flatMap(({ lines }) => lines.data.map(({ period }) => period.end * 1000)));
}

/** Stores what differs. An end that has been carried out stays so. */
async function storeSubscription(
  transaction: Db,
  accountId: string,
  { id, status, items, created, cancel_at, cancel_at_period_end }: Stripe.Subscription,
  licenceUntilMs: number,
  known: Tables["billing_subscriptions"] | undefined,
): Promise<void> {
  const periodEndsMs = Math.max(...items.data.map(({ current_period_end }) => current_period_end * 1000));
  const cancelAtMs = cancel_at ? cancel_at * 1000 : cancel_at_period_end ? periodEndsMs : null;
  const [item] = items.data;
  const hasEnded = known?.licence_until_ms === 0 && known.status === status;
  const values = {
    status,
    assistant_limit: item ? limitOf(item.price) : null,
    period_ends_ms: periodEndsMs,
    ends_at_ms: licenceUntilMs < farFutureMs ? licenceUntilMs : cancelAtMs,
    licence_until_ms: hasEnded ? 0 : licenceUntilMs,
  };
  if (known && Object.entries(values).every(([name, value]) => known[name as keyof typeof known] === value))
    return;
  const row = { ...values, version: (known?.version ?? 0) + 1 };
  await transaction
    .insertInto("billing_subscriptions")
    .values({ id, account_id: accountId, created_at_ms: created * 1000, ...row })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
    .execute();
}

/** Stores the state of a checkout with the credits that it gives, and takes back what was refunded, if it is there. */
async function settleCheckout(
  db: Db,
  buyer: Buyer,
  session: Stripe.Checkout.Session,
  { event, nowMs }: Cause,
): Promise<void> {
  const { id } = await keepCheckout(db, buyer.id, session);
  const isFulfilled = await changeAccount(db, buyer, "credits", nowMs, async (transaction, account) => {
    const checkouts = transaction.selectFrom("billing_checkouts").selectAll().where("id", "=", id);
    const known = await checkouts.executeTakeFirstOrThrow();
    const state = known.state === "fulfilled" ? known.state : (stateOf(session) ?? known.state);
    const isNew = state !== known.state && state === "fulfilled";
    const write = async (thousandths: number, reason: "bought" | "refunded") => {
      const entry = { accountId: account.id, thousandths, reason };
      if (thousandths !== 0) await writeCreditEntry(transaction, entry, nowMs);
    };
    const given = isNew ? known.thousandths : 0;
    await write(given, "bought");
    const refunded = Math.floor(known.thousandths * refundedShare(session));
    const due = Math.max(0, refunded - known.refunded_thousandths);
    const taken = Math.min(due, account.credit_thousandths + given);
    await write(-taken, "refunded");
    if (due > taken) {
      const after = { not_taken_back_thousandths: due - taken };
      const about = { by: "stripe", what: "credits refunded", whom: buyer.email, after } as const;
      await recordAudit(transaction, about, nowMs);
    }
    const settled = { state, refunded_thousandths: known.refunded_thousandths + due };
    await transaction
      .updateTable("billing_checkouts")
      .set({ ...settled, last_event: event, last_event_at_ms: nowMs })
      .where("id", "=", id)
      .execute();
    return isNew;
  });
  if (isFulfilled) metrics()?.purchases.inc({ outcome: "fulfilled" });
}

/** Our row of a checkout. A store that was restored from a backup may not have it. */
async function keepCheckout(
  db: Db,
  account_id: string,
  { id, mode, metadata, created }: Stripe.Checkout.Session,
): Promise<Selectable<Tables["billing_checkouts"]>> {
  const rows = db.selectFrom("billing_checkouts").selectAll().where("session_id", "=", id);
  const known = await rows.executeTakeFirst();
  if (known) return known;
  const kind = mode === "subscription" ? "licence" : "credits";
  const sold = { kind, price_id: metadata?.price ?? "", thousandths: Number(metadata?.thousandths) || 0 };
  const row = { id, account_id, ...sold, state: "unpaid", created_at_ms: created * 1000, session_id: id };
  const adding = db.insertInto("billing_checkouts").values(row);
  await adding.onConflict((conflict) => conflict.doNothing()).execute();
  return rows.executeTakeFirstOrThrow();
}

/** The state of a checkout that is no longer open; a licence's is fulfilled once its subscription is stored. */
function stateOf(session: Stripe.Checkout.Session): string | undefined {
  const { mode, status, payment_status, payment_intent } = session;
  if (status !== "complete") return status === "expired" ? status : undefined;
  if (mode === "subscription" || payment_status !== "unpaid") return "fulfilled";
  const payment = typeof payment_intent === "object" ? payment_intent?.status : undefined;
  return payment === "requires_payment_method" || payment === "canceled" ? "failed" : "unpaid";
}

/** The part of a checkout's payment that was refunded, from 0 to 1. */
function refundedShare({ payment_intent }: Stripe.Checkout.Session): number {
  const charge = typeof payment_intent === "object" ? payment_intent?.latest_charge : undefined;
  return charge && typeof charge === "object" && charge.amount > 0
    ? charge.amount_refunded / charge.amount
    : 0;
}
