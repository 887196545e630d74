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

/**
 * Gives an account what was bought, or takes back what ended. It reads the object at Stripe, so the order of events does
 * not matter, and stores what it did by Stripe's ids, so a repetition changes nothing. It ignores what is none of ours.
 * Throws if Stripe or the store fails; it can then be repeated.
 *
 * @param event - what caused this, for `billing show`
 */
export async function fulfil(db: Db, purchase: Purchase, event: string, nowMs: number): Promise<void> {
  try {
    if ("subscription" in purchase) await fulfilSubscription(db, purchase.subscription, event, nowMs);
    else if ("checkout" in purchase) await fulfilCheckout(db, purchase.checkout, event, nowMs);
    else await fulfilPayment(db, purchase.payment, event, nowMs);
  } catch (failure) {
    metrics()?.purchases.inc({ outcome: "failed" });
    throw failure;
  }
}

/** A payment is refunded, but its checkout says what was bought. */
async function fulfilPayment(db: Db, payment_intent: string, event: string, nowMs: number): Promise<void> {
  const { data } = await readAtStripe((stripe) =>
    stripe.checkout.sessions.list({ payment_intent, limit: 1 }),
  );
  for (const { id } of data) await fulfilCheckout(db, id, event, nowMs);
}

async function fulfilCheckout(db: Db, id: string, event: string, nowMs: number): Promise<void> {
  const expand = ["payment_intent.latest_charge"];
  const session = await findAtStripe((stripe) => stripe.checkout.sessions.retrieve(id, { expand }));
  const accountId = session?.metadata?.account && (await findBuyer(db, session, nowMs));
  if (!session || !accountId) return;
  if (session.subscription) await fulfilSubscription(db, idOf(session.subscription), event, nowMs);
  await settleCheckout(db, accountId, session, nowMs);
  await db
    .updateTable("billing_checkouts")
    .set({ last_event: event, last_event_at_ms: nowMs })
    .where("session_id", "=", id)
    .execute();
}

const maxReadings = 5;

/**
 * Stores a subscription as Stripe has it. Of two readings at once, the one that began before the other was stored is
 * repeated: it may be older.
 */
async function fulfilSubscription(db: Db, id: string, event: string, nowMs: number): Promise<void> {
  for (let reading = 0; reading < maxReadings; reading++) {
    const { version = 0 } = (await findSubscription(db, id)) ?? {};
    const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id));
    if (!subscription || !(version > 0 || isLicence(subscription))) return;
    const accountId = await findBuyer(db, subscription, nowMs);
    if (!accountId) return;
    const licenceUntilMs = await readLicenceEnd(subscription);
    const isStored = await changeAccount(db, accountId, "licence", nowMs, async (transaction) => {
      const known = await findSubscription(transaction, id);
      if ((known?.version ?? 0) !== version) return false;
      await storeSubscription(transaction, accountId, subscription, licenceUntilMs, known);
      await settleLicence(transaction, accountId, nowMs);
      return true;
    });
    if (!isStored) continue;
    await db
      .updateTable("billing_subscriptions")
      .set({ last_event: event, last_event_at_ms: nowMs })
      .where("id", "=", id)
      .execute();
    return;
  }
  throw new Error("a subscription changed while it was read");
}

/** Whether a subscription is for a licence of ours: from our checkout, or for a price that we sell. */
function isLicence({ metadata, items }: Stripe.Subscription): boolean {
  const { licencePrices } = requireBilling();
  return metadata.account !== undefined || items.data.some(({ price }) => licencePrices.includes(price.id));
}

/**
 * Finds the account that a purchase is for, by its customer or by the id that our checkout gave it. If the account was
 * deleted meanwhile, the audit says so, once.
 */
async function findBuyer(
  db: Db,
  { id, customer, metadata }: { id: string; customer: Reference; metadata: Stripe.Metadata | null },
  nowMs: number,
): Promise<string | undefined> {
  const customerId = customer ? idOf(customer) : "";
  const known = await db
    .selectFrom("billing_customers")
    .select("account_id")
    .where("customer_id", "=", customerId)
    .executeTakeFirst();
  if (known) return known.account_id;
  const named = metadata?.account;
  if (!named) return undefined;
  if (customerId && (await keepCustomer(db, named, customerId, nowMs))) return named;
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

type Reference = string | { id: string } | null;

const idOf = (reference: string | { id: string }) =>
  typeof reference === "string" ? reference : reference.id;

/** Runs a change of an account's row, which it locks. Returns `undefined` if the account is gone. */
async function changeAccount<T>(
  db: Db,
  accountId: string,
  what: string,
  nowMs: number,
  work: (transaction: Db, note: (noted: object) => void) => Promise<T>,
): Promise<T | undefined> {
  const row = (transaction: Db) => transaction.selectFrom("accounts").selectAll().where("id", "=", accountId);
  const whom = (await row(db).executeTakeFirst())?.email;
  if (!whom) return undefined;
  let noted = {};
  const look = async (transaction: Db) => {
    const account = await row(transaction).forUpdate().executeTakeFirst();
    const subscriptions = await transaction
      .selectFrom("billing_subscriptions")
      .select("status")
      .where("account_id", "=", accountId)
      .orderBy("id")
      .execute();
    return account && { ...account, subscriptions: subscriptions.map(({ status }) => status), ...noted };
  };
  return auditedTransaction(db, { by: "stripe", what, whom, look }, nowMs, async (transaction) => {
    if (!(await row(transaction).executeTakeFirst())) return undefined;
    return work(transaction, (fields) => {
      noted = fields;
    });
  });
}

function findSubscription(db: Db, id: string): Promise<Tables["billing_subscriptions"] | undefined> {
  return db.selectFrom("billing_subscriptions").selectAll().where("id", "=", id).executeTakeFirst();
}

const licenceStates = ["active", "trialing", "past_due"];

/** For as long as a licence is active. */
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
  { id, status, items, cancel_at, cancel_at_period_end }: Stripe.Subscription,
  licenceUntilMs: number,
  known: Tables["billing_subscriptions"] | undefined,
): Promise<void> {
  const periodEndsMs = Math.max(...items.data.map(({ current_period_end }) => current_period_end * 1000));
  const price = items.data[0]?.price;
  const wasEnded = known?.licence_until_ms === 0 && known.status === status;
  const values = {
    status,
    assistant_limit: price ? limitOf(price) : null,
    period_ends_ms: periodEndsMs,
    ends_at_ms: cancel_at ? cancel_at * 1000 : cancel_at_period_end ? periodEndsMs : null,
    licence_until_ms: wasEnded ? 0 : licenceUntilMs,
  };
  if (!known) {
    const row = { id, account_id: accountId, version: 1, ...values };
    await transaction.insertInto("billing_subscriptions").values(row).execute();
  } else if (Object.entries(values).some(([name, value]) => known[name as keyof typeof known] !== value)) {
    await transaction
      .updateTable("billing_subscriptions")
      .set({ ...values, version: known.version + 1 })
      .where("id", "=", id)
      .execute();
  }
}

/** The state of a checkout; a licence's is fulfilled once its subscription is stored. */
function stateOf({ mode, status, payment_status, payment_intent }: Stripe.Checkout.Session): string {
  if (status !== "complete") return status ?? "open";
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

/** Stores the state of a checkout with the credits that it gives, and takes back what was refunded, if it is there. */
async function settleCheckout(
  db: Db,
  accountId: string,
  session: Stripe.Checkout.Session,
  nowMs: number,
): Promise<void> {
  const state = stateOf(session);
  const { thousandths: bought, price = "" } = session.metadata ?? {};
  const thousandths = Number(bought) || 0;
  await changeAccount(
    db,
    accountId,
    thousandths > 0 ? "credits" : "checkout",
    nowMs,
    async (transaction, note) => {
      const checkouts = () =>
        transaction.selectFrom("billing_checkouts").selectAll().where("session_id", "=", session.id);
      const known = await checkouts().executeTakeFirst();
      if (!known) {
        // A store that was restored from a backup may not have it.
        const kind = session.mode === "subscription" ? "licence" : "credits";
        const row = {
          id: session.id,
          account_id: accountId,
          kind,
          price_id: price,
          thousandths,
          state: "unpaid",
        };
        await transaction
          .insertInto("billing_checkouts")
          .values({ ...row, session_id: session.id, created_at_ms: session.created * 1000 })
          .execute();
      }
      const { state: before, refunded_thousandths } = known ?? { state: "unpaid", refunded_thousandths: 0 };
      const set = (values: { state?: string; refunded_thousandths?: number }) =>
        transaction
          .updateTable("billing_checkouts")
          .set(values)
          .where("session_id", "=", session.id)
          .execute();
      if (before === "fulfilled" ? false : before !== state) await set({ state });
      if (state !== "fulfilled") return;
      if (before !== "fulfilled") metrics()?.purchases.inc({ outcome: "fulfilled" });
      if (before !== "fulfilled" && thousandths > 0) {
        await writeCreditEntry(transaction, { accountId, thousandths, reason: "bought" }, nowMs);
      }
      const refunded = Math.floor(thousandths * refundedShare(session));
      if (refunded <= refunded_thousandths) return;
      await set({ refunded_thousandths: refunded });
      const due = refunded - refunded_thousandths;
      const { credit_thousandths: left } = await transaction
        .selectFrom("accounts")
        .select("credit_thousandths")
        .where("id", "=", accountId)
        .executeTakeFirstOrThrow();
      const taken = Math.min(due, left);
      if (taken > 0) {
        await writeCreditEntry(transaction, { accountId, thousandths: -taken, reason: "refunded" }, nowMs);
      }
      note({ refunded_thousandths: refunded, not_taken_back_thousandths: due - taken });
    },
  );
}
