import type { Selectable } from "kysely";
import type { Stripe } from "stripe";
import { writeCreditEntry } from "@/lib/accounts/ledger";
import { type Buyer, type Cause, changeAccount } from "@/lib/accounts/purchases";
import { findBuyer } from "@/lib/billing/customer";
import { findSubscriptionsOf, readReturned } from "@/lib/billing/returned-share";
import { findAtStripe, idOf, readAtStripe } from "@/lib/billing/stripe";
import { fulfilSubscription } from "@/lib/billing/subscription";
import { recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
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
  const cause = { event, nowMs };
  try {
    if ("subscription" in purchase) await fulfilSubscription(db, purchase.subscription, cause);
    else if ("checkout" in purchase) await fulfilCheckout(db, purchase.checkout, cause);
    else await fulfilPayment(db, purchase.payment, cause);
    recordOutage("fulfilment", false);
  } catch (failure) {
    metrics()?.purchases.inc({ outcome: "failed" });
    recordOutage("fulfilment", true);
    throw failure;
  }
}

/** A payment is refunded or disputed, but its checkout or its subscription says what was bought. */
async function fulfilPayment(db: Db, payment_intent: string, cause: Cause): Promise<void> {
  const { data } = await readAtStripe((stripe) =>
    stripe.checkout.sessions.list({ payment_intent, limit: 1 }),
  );
  for (const { id } of data) await fulfilCheckout(db, id, cause);
  if (data.length > 0) return;
  for (const id of await findSubscriptionsOf(payment_intent)) await fulfilSubscription(db, id, cause);
}

const maxReadings = 5;

/**
 * Reads a checkout at Stripe: gives its credits once it is paid, takes back what was refunded or lost in a dispute, and
 * gives that again when the refund fails. A reading during which another one was stored is repeated, because it may be
 * older. A licence is its subscription's.
 */
async function fulfilCheckout(db: Db, id: string, cause: Cause): Promise<void> {
  const expand = ["payment_intent.latest_charge"];
  for (let reading = 0; reading < maxReadings; reading++) {
    const before = await findCheckout(db, id);
    const session = await findAtStripe((stripe) => stripe.checkout.sessions.retrieve(id, { expand }));
    if (!session?.metadata?.account) return;
    const charge = chargeOf(session);
    const returned = charge ? await readReturned(charge) : { share: 0, isDisputeLost: false };
    const isCharged =
      session.status === "complete" && session.payment_status !== "unpaid" && returned.share < 1;
    const buyer = await findBuyer(db, session, isCharged, cause.nowMs);
    if (!buyer) return;
    if (session.subscription) await fulfilSubscription(db, idOf(session.subscription), cause);
    const known = before ?? (await keepCheckout(db, buyer.id, session));
    if (await settleCheckout(db, buyer, known, stateOf(session) ?? known.state, returned, cause)) return;
  }
  throw new Error("a checkout changed while it was read");
}

/** A checkout that an account began. */
export type Checkout = Selectable<Tables["billing_checkouts"]>;

/** The checkout of a session at Stripe. */
export function findCheckout(db: Db, session: string | null): Promise<Checkout | undefined> {
  return db.selectFrom("billing_checkouts").selectAll().where("session_id", "=", session).executeTakeFirst();
}

/** Stores a checkout that a store that was restored from a backup does not have. */
async function keepCheckout(
  db: Db,
  account_id: string,
  { id, mode, metadata, created }: Stripe.Checkout.Session,
): Promise<Checkout> {
  const kind = mode === "subscription" ? "licence" : "credits";
  const sold = { kind, price_id: metadata?.price ?? "", thousandths: Number(metadata?.thousandths) || 0 };
  await db
    .insertInto("billing_checkouts")
    .values({ id, account_id, ...sold, state: "unpaid", created_at_ms: created * 1000, session_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const kept = await findCheckout(db, id);
  if (!kept) throw new Error("a checkout could not be stored");
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

/** Stores the state of a checkout with the credits that it gives or takes back. Returns false for an older reading. */
async function settleCheckout(
  db: Db,
  buyer: Buyer,
  known: Checkout,
  read: string,
  { share, isDisputeLost }: Awaited<ReturnType<typeof readReturned>>,
  { event, nowMs }: Cause,
): Promise<boolean> {
  const state = known.state === "fulfilled" ? known.state : read;
  const isNew = state !== known.state && state === "fulfilled";
  const refunded = Math.floor(known.thousandths * share);
  const due = refunded - known.refunded_thousandths;
  const reason = due < 0 ? "refund failed" : isDisputeLost ? "dispute lost" : "refunded";
  const what = due === 0 ? "credits" : `credits ${reason}`;
  const isStored = await changeAccount(db, buyer, what, nowMs, async (transaction, account) => {
    const current = await findCheckout(transaction, known.session_id);
    const isSame =
      current?.state === known.state && current.refunded_thousandths === known.refunded_thousandths;
    if (!isSame) return false;
    const write = async (thousandths: number, reason: string) => {
      const entry = { account_id: account.id, thousandths, reason };
      if (thousandths !== 0) await writeCreditEntry(transaction, entry, nowMs);
    };
    const given = isNew ? known.thousandths : 0;
    await write(given, "bought");
    const takenBefore = known.taken_thousandths ?? known.refunded_thousandths;
    const taken = due < 0 ? -Math.min(-due, takenBefore) : Math.min(due, account.credit_thousandths + given);
    await write(-taken, reason);
    if (due > taken && due > 0) {
      const after = { not_taken_back_thousandths: due - taken };
      const about = { by: "stripe", what: "credits not taken back", whom: buyer.email, after } as const;
      await recordAudit(transaction, about, nowMs);
    }
    const settled = { state, refunded_thousandths: refunded, taken_thousandths: takenBefore + taken };
    await transaction
      .updateTable("billing_checkouts")
      .set({ ...settled, last_event: event, last_event_at_ms: nowMs })
      .where("id", "=", known.id)
      .execute();
    return true;
  });
  if (isStored && isNew) metrics()?.purchases.inc({ outcome: "fulfilled" });
  return isStored !== false;
}
