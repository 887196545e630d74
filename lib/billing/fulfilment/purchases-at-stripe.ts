import type { Stripe } from "stripe";
import { listCustomersOf } from "@/lib/billing/customer/customer";
import { type Buyer, keepCustomer } from "@/lib/billing/customer/purchases";
import { listUnclaimed } from "@/lib/billing/customer/unclaimed-purchases";
import { selectBegun } from "@/lib/billing/fulfilment/bought-credits";
import type { Purchase } from "@/lib/billing/fulfilment/fulfilment";
import { assignPlans } from "@/lib/billing/prices/licence-prices";
import { findOldestPrice } from "@/lib/billing/prices/prices";
import { idOf, listAtStripe } from "@/lib/billing/stripe/calls";
import { dayMs } from "@/lib/config/durations";
import { listOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import { requireBilling } from "@/lib/http/checks/billing";
import { listSold } from "@/lib/plans/plan-prices";
import { behindAfterMs, findCustomer } from "@/lib/plans/purchases";

/* What was bought, as Stripe lists it: an event may be lost, and a restored store knows nothing of what came after it. */

const overlapMs = 20 * 60 * 1000; // 20 minutes: what came during the round before
const openForMs = dayMs + 60 * 60 * 1000; // 25 hours: a checkout is listed by when it was begun, and can be paid for a day
const settlesWithinMs = 15 * dayMs; // a bank may take two weeks
const disputedForMs = 120 * dayMs;
const beginsWithinMs = 10 * 60 * 1000; // 10 minutes, after which its own request has stored a checkout

/** How far Stripe was read, and whether that is longer ago than a round. */
export type Progress = { throughMs: number; isBehind: boolean };

/** How far Stripe was read. A new store begins with its oldest price: we sold nothing before. */
export async function readProgress(db: Db, nowMs: number): Promise<Progress> {
  const row = await db.selectFrom("billing_progress").select("through_ms").executeTakeFirst();
  const throughMs = row?.through_ms ?? (await findOldestPrice(await listAllSold(db), nowMs));
  return { throughMs, isBehind: nowMs - throughMs >= behindAfterMs };
}

const listAllSold = async (db: Db) => [
  ...(await listSold(db)).map(({ id }) => id),
  ...requireBilling().creditPrices,
];

/** Stores that everything until then was read. */
export async function keepProgress(db: Db, through_ms: number): Promise<void> {
  await db
    .insertInto("billing_progress")
    .values({ id: "purchases", through_ms })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ through_ms }))
    .execute();
}

/**
 * What was sold, refunded or disputed at Stripe since it was last read, unless the store knows it. In a store that is behind,
 * also what changed since without being new: open checkouts, those that a bank paid, and older disputes.
 */
export async function findNew(db: Db, { throughMs, isBehind }: Progress, nowMs: number): Promise<Purchase[]> {
  const since = (ms: number) => ({ created: { gte: Math.max(0, Math.floor(ms / 1000)) } });
  const recent = since(throughMs - overlapMs);
  const begun = since(throughMs - (isBehind ? settlesWithinMs : openForMs));
  const listed = [
    ...(await listSubscriptions(db, recent, nowMs)),
    ...(await listCheckouts({ ...begun, ...(!isBehind && { status: "complete" }) }, nowMs)),
    ...(await listTopUps(begun)),
  ];
  const ids = listOf(db, listed.map(idIn));
  const subscriptions = db.selectFrom("billing_subscriptions").select("id").where("id", "in", ids);
  const settled = db
    .selectFrom("billing_checkouts")
    .select("session_id as id")
    .where("session_id", "in", ids)
    .where(({ or, and, eb }) =>
      or([
        eb("state", "=", "fulfilled"),
        and([eb("kind", "<>", "top-up"), eb("state", "not in", ["open", "unpaid"])]),
      ]),
    );
  const known = [...(await subscriptions.execute()), ...(await settled.execute())];
  const has = new Set(known.map(({ id }) => id));
  const purchases: Purchase[] = (await listUnclaimed(db)).map(({ id }) =>
    id.startsWith("sub_") ? { subscription: id } : { checkout: id },
  );
  purchases.push(...listed.filter((purchase) => !has.has(idIn(purchase))));
  const disputed = since(throughMs - disputedForMs);
  const refunds = listAtStripe((stripe, page) => stripe.refunds.list({ ...recent, ...page }));
  const disputes = listAtStripe((stripe, page) => stripe.disputes.list({ ...disputed, ...page }));
  for (const returned of isBehind ? [refunds, disputes] : [refunds])
    for await (const { payment_intent } of returned)
      if (payment_intent) purchases.push({ payment: idOf(payment_intent) });
  return distinct(purchases);
}

/** Everything that an account has bought, by all customers of it or of its email, which need not be in the store. */
export async function collectPurchasesOf(db: Db, buyer: Buyer, nowMs: number): Promise<Purchase[]> {
  const known = (await findCustomer(db, buyer.id))?.customer_id;
  const customers = new Set(known ? [known] : []);
  for await (const { id, metadata } of listCustomersOf(buyer)) {
    if (metadata.account === buyer.id) await keepCustomer(db, { accountId: buyer.id, customerId: id }, nowMs);
    customers.add(id);
  }
  const purchases: Purchase[] = await selectBegun(db).where("account_id", "=", buyer.id).execute();
  for (const customer of customers) {
    purchases.push(...(await listSubscriptions(db, { customer }, nowMs)));
    purchases.push(...(await listCheckouts({ customer }, nowMs)));
    purchases.push(...(await listTopUps({ customer })));
  }
  purchases.push(...(await listCheckouts({ customer_details: { email: buyer.email } }, nowMs)));
  return distinct(purchases);
}

/** The subscriptions for our licences, ended ones too. */
async function listSubscriptions(db: Db, filter: Stripe.SubscriptionListParams, nowMs: number) {
  const all = { ...filter, status: "all" } as const;
  const found: Purchase[] = [];
  for await (const { id, items } of listAtStripe((stripe, page) =>
    stripe.subscriptions.list({ ...all, ...page }),
  ))
    if ((await assignPlans(db, items.data, nowMs)).length > 0) found.push({ subscription: id });
  return found;
}

/** The checkouts of credits that were paid, and our own that can still be paid. */
async function listCheckouts(filter: Stripe.Checkout.SessionListParams, nowMs: number) {
  const { creditPrices } = requireBilling();
  const expand = ["data.line_items"];
  const isOurs = ({ status, mode, metadata, line_items, created }: Stripe.Checkout.Session) => {
    if (status === "open") return metadata?.account && nowMs - created * 1000 >= beginsWithinMs;
    if (status === "expired" || mode !== "payment") return false;
    return (
      metadata?.account || line_items?.data.some(({ price }) => price && creditPrices.includes(price.id))
    );
  };
  const found: Purchase[] = [];
  for await (const session of listAtStripe((stripe, page) =>
    stripe.checkout.sessions.list({ ...filter, ...page, expand }),
  ))
    if (isOurs(session)) found.push({ checkout: session.id });
  return found;
}

/** The invoices of automatic purchases that were paid. */
async function listTopUps(filter: Stripe.InvoiceListParams) {
  const found: Purchase[] = [];
  if (requireBilling().creditPrices.length === 0) return found;
  const paid = { ...filter, status: "paid" } as const;
  for await (const { id, metadata } of listAtStripe((stripe, page) =>
    stripe.invoices.list({ ...paid, ...page }),
  ))
    if (metadata?.top_up) found.push({ checkout: id });
  return found;
}

const idIn = (purchase: Purchase): string => Object.values(purchase)[0] ?? "";

const distinct = (purchases: Purchase[]) => [
  ...new Map(purchases.map((purchase) => [idIn(purchase), purchase])).values(),
];
