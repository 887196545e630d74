import { randomUUID } from "node:crypto";
import type { Stripe } from "stripe";
import { parseAccount } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { monthOf } from "@/lib/accounts/credits/credit-watch";
import { spendable } from "@/lib/accounts/credits/ledger";
import { describeSale, updateOpen } from "@/lib/billing/checkout";
import { findCard } from "@/lib/billing/customer/card";
import { type Checkout, findCheckout } from "@/lib/billing/fulfilment/bought-credits";
import { fulfil } from "@/lib/billing/fulfilment/fulfilment";
import { readProgress } from "@/lib/billing/fulfilment/purchases-at-stripe";
import { chargedIn, readAmount, readPrice } from "@/lib/billing/prices/prices";
import {
  callStripe,
  changeAtStripe,
  endAtStripe,
  findAtStripe,
  listAtStripe,
  StripeFailure,
} from "@/lib/billing/stripe/calls";
import { countTopUps, stopAutomaticPurchase } from "@/lib/billing/top-ups/automatic-purchase";
import { dayMs, hourMs } from "@/lib/config/durations";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { accountBy, lockAccount } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { requireBilling } from "@/lib/http/checks/billing";
import { ApiError } from "@/lib/http/errors";
import type { StopReason } from "@/lib/mail/kinds/credits";
import { log } from "@/lib/runtime/log";

/*
 * An automatic purchase is a checkout of its own kind, which an invoice at Stripe charges. An account has at most one that is
 * open, and its row has the id of the only invoice that is ever paid for it; Stripe pays an invoice once. So kills, several
 * instances and lost answers charge nothing twice, whatever Stripe remembers of an idempotency key.
 */

const leaseMs = 2 * 60 * 1000; // 2 minutes: so long no other instance goes on with a purchase
const atOnce = 100; // purchases in a round
const maxMissed = 3; // then Stripe is away, and the rest waits for the next round
const putOffMs = 60_000; // 1 minute: what cannot begin lets the others go first
const maxSteps = 4; // of an invoice: made, finalized, paid, ended

/** Goes on with purchases that are open, and begins those that are due; none while it is long ago that Stripe was read. */
export async function buyDueCredits(db: Db, nowMs: number): Promise<void> {
  if (!settings().billing) return;
  const open = await openTopUps(db, nowMs).select("id").limit(atOnce).execute();
  const due = await db
    .selectFrom("credit_limits")
    .select("account_id")
    .where("top_up_due_ms", "<=", nowMs)
    .orderBy("top_up_due_ms")
    .limit(atOnce)
    .execute();
  if (open.length + due.length === 0 || (await readProgress(db, nowMs)).isBehind) return;
  const works: (() => Promise<Checkout | undefined>)[] = [];
  for (const { id } of open) works.push(() => claim(db, id, nowMs));
  for (const { account_id } of due) works.push(() => begin(db, account_id, nowMs));
  let missed = 0;
  for (const work of works) {
    if (missed === maxMissed) return;
    await work()
      .then((topUp) => topUp && settle(db, topUp, nowMs))
      .catch((err) => {
        missed++;
        log().warn({ err }, "an automatic purchase cannot go on yet");
      });
  }
}

const openTopUps = (db: Db, nowMs: number) =>
  db
    .selectFrom("billing_checkouts")
    .where("kind", "=", "top-up")
    .where("state", "=", "open")
    .where(({ or, eb }) =>
      or([eb("last_event_at_ms", "is", null), eb("last_event_at_ms", "<=", nowMs - leaseMs)]),
    )
    .orderBy("created_at_ms");

const lease = (nowMs: number) => ({ last_event: "automatic purchase", last_event_at_ms: nowMs });

/** Takes an open purchase for this instance; `undefined` if another has. */
function claim(db: Db, id: string, nowMs: number): Promise<Checkout | undefined> {
  return db
    .updateTable("billing_checkouts")
    .set(lease(nowMs))
    .where("id", "in", openTopUps(db, nowMs).select("id").where("id", "=", id))
    .returningAll()
    .executeTakeFirst();
}

/** What an account's owner wants to be bought, and whether now; `undefined` if nothing, or it is not sold to them. */
async function readWanted(db: Db, accountId: string, nowMs: number) {
  const row = await accountBy(db, "id", accountId).select(accountAt(nowMs)).executeTakeFirst();
  const account = parseAccount(row, nowMs);
  const limits = await db
    .selectFrom("credit_limits")
    .select(["top_up_price as price", "top_up_below_thousandths as below", "top_up_most as most"])
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (!account || !limits?.price || !limits.below || !limits.most) return undefined;
  const sale = await describeSale(db, account, { kind: "credits", priceId: limits.price }, nowMs).catch(
    (failure) => {
      if (failure instanceof ApiError && failure.code !== "checkout_failed") return undefined;
      throw failure; // Stripe does not say
    },
  );
  return sale && { sale, most: limits.most, isLow: spendable(account) < limits.below };
}

/** Begins what is due for an account, unless it is not wanted any more. What exceeds the ceiling is due next month. */
async function begin(db: Db, accountId: string, nowMs: number): Promise<Checkout | undefined> {
  try {
    await readWanted(db, accountId, nowMs); // asks Stripe for the price, which is then kept
  } catch (failure) {
    const limits = db.updateTable("credit_limits").where("account_id", "=", accountId);
    await limits
      .set({ top_up_due_ms: nowMs + putOffMs })
      .where("top_up_due_ms", "<=", nowMs)
      .execute();
    throw failure;
  }
  return transact(db, async (transaction) => {
    await lockAccount(transaction, accountId);
    const wanted = await readWanted(transaction, accountId, nowMs);
    const isFull = wanted?.isLow && (await countTopUps(transaction, accountId, nowMs)) >= wanted.most;
    await transaction
      .updateTable("credit_limits")
      .set({ top_up_due_ms: isFull ? monthOf(nowMs, 1) : null })
      .where("account_id", "=", accountId)
      .execute();
    if (!wanted?.isLow || isFull) return undefined;
    const { price_id, thousandths } = wanted.sale;
    const bought = { id: randomUUID(), account_id: accountId, kind: "top-up", price_id, thousandths };
    return transaction
      .insertInto("billing_checkouts")
      .values({ ...bought, state: "open", created_at_ms: nowMs, ...lease(nowMs) })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
  });
}

/** Goes as far as it can, always by what the invoice is at Stripe. Throws while Stripe does not say; it can be repeated. */
async function settle(db: Db, topUp: Checkout, nowMs: number): Promise<void> {
  const { account_id, session_id } = topUp;
  const wanted = await readWanted(db, account_id, nowMs);
  const card = wanted && (await findCard(db, account_id));
  const stop = async (why: StopReason) => {
    const owner = await accountBy(db, "id", account_id).select(["id", "email"]).executeTakeFirst();
    if (!owner) return;
    const amount = await readAmount(topUp.price_id, card?.currency ?? undefined, nowMs);
    const pack = `${(topUp.thousandths / 1000).toLocaleString("en")} credits${amount ? ` for ${amount}` : ""}`;
    await stopAutomaticPurchase(db, owner, { why, id: topUp.id, pack }, nowMs);
  };
  if (!session_id && wanted && !card) await stop("no card");
  if (!session_id && !(wanted?.isLow && card)) return giveUp(db, topUp, "expired");
  let invoice: TopUpInvoice | undefined;
  try {
    invoice = session_id
      ? await readInvoice(session_id)
      : card && (await makeInvoice(db, topUp, card, nowMs));
  } catch (failure) {
    if (!isRefusal(failure)) throw failure;
    logRefusal(topUp, failure);
    await stop("refused");
  }
  for (let step = 0; invoice && step < maxSteps; step++) {
    const { id, state } = invoice;
    if (state === "waiting") return;
    if (state === "over") return fulfil(db, { checkout: id }, "automatic purchase", nowMs);
    const refusal = wanted && card && !invoice.failure && (await advance(invoice, card.id));
    if (refusal) invoice = await readInvoice(id);
    const why = invoice?.failure ?? (refusal && invoice?.state === state ? "refused" : undefined);
    if (why === "refused") logRefusal(topUp, refusal);
    const hasEnded = why || !wanted || !card;
    // First off, so that a kill in between leaves nothing that charges again.
    if (hasEnded && wanted) await stop(why ?? "no card");
    if (hasEnded) await endAtStripe(id);
    invoice = await readInvoice(id);
  }
  if (!invoice) await giveUp(db, topUp, "failed");
}

/** Says why Stripe refused, under the id that the owner's mail has. */
const logRefusal = ({ id }: Checkout, err: unknown) =>
  log().warn({ err, id }, "Stripe refused an automatic purchase");

/** Finalizes or pays an invoice. Returns Stripe's refusal, if it refused: what that means, the invoice itself says. */
async function advance({ id, state }: TopUpInvoice, card: string): Promise<StripeFailure | undefined> {
  const pay = (stripe: Stripe) => stripe.invoices.pay(id, { payment_method: card, off_session: true });
  const finalize = (stripe: Stripe) => stripe.invoices.finalizeInvoice(id, { auto_advance: false });
  try {
    await callStripe<object>(state === "draft" ? finalize : pay, answersWithinMs.stripeCreation);
    return undefined;
  } catch (failure) {
    if (isRefusal(failure)) return failure;
    throw failure;
  }
}

/** A refusal of what was asked, a card's included, and not of us or for now. */
const isRefusal = (failure: unknown): failure is StripeFailure =>
  failure instanceof StripeFailure && [400, 402, 404].includes(failure.status ?? 0);

type TopUpInvoice = {
  id: string;
  /** `waiting` while a bank has not answered; `over` once it is paid or void. */
  state: "draft" | "open" | "waiting" | "over";
  /** Why its payment failed. */
  failure: StopReason | undefined;
};

async function readInvoice(id: string): Promise<TopUpInvoice | undefined> {
  const expand = ["payments.data.payment.payment_intent"];
  const invoice = await findAtStripe((stripe) => stripe.invoices.retrieve(id, { expand }));
  if (!invoice) return undefined;
  const { status, attempted, payments } = invoice;
  if (status !== "draft" && status !== "open") return { id, state: "over", failure: undefined };
  const intents = (payments?.data ?? []).flatMap(({ payment: { payment_intent: intent } }) =>
    typeof intent === "object" && intent ? [intent] : [],
  );
  if (intents.some((intent) => intent.status === "processing"))
    return { id, state: "waiting", failure: undefined };
  const mustConfirm = intents.some(
    ({ status, last_payment_error: error }) =>
      status === "requires_action" || error?.code === "authentication_required",
  );
  const failure = mustConfirm ? "confirmation" : attempted ? "declined" : undefined;
  return { id, state: status as "draft" | "open", failure };
}

/**
 * The invoice of a purchase: one that an interrupted attempt has made, or a new one; `undefined` if another instance has made
 * it, or Stripe has a purchase that a restored store does not know, which is fulfilled instead.
 */
async function makeInvoice(
  db: Db,
  topUp: Checkout,
  { customer, currency: customersCurrency }: { customer: string; currency?: string | null | undefined },
  nowMs: number,
): Promise<TopUpInvoice | undefined> {
  const { id, account_id: account, price_id: price, thousandths, created_at_ms } = topUp;
  const sold = await readPrice(price, nowMs);
  const created = { gte: Math.floor((created_at_ms - dayMs) / 1000) };
  let made: Stripe.Invoice | undefined;
  for await (const invoice of listAtStripe((stripe, page) =>
    stripe.invoices.list({ customer, created, ...page }),
  )) {
    const { top_up } = invoice.metadata ?? {};
    if (top_up === id) made = invoice;
    else if (top_up && !(await findCheckout(db, invoice.id))) {
      await fulfil(db, { checkout: invoice.id }, "automatic purchase", nowMs);
      await giveUp(db, topUp, "expired");
      return undefined;
    }
  }
  // Stripe remembers its own failures as the answer to a key for a day.
  const key = `${id}-${Math.floor((nowMs - created_at_ms) / hourMs)}`;
  made ??= await changeAtStripe(`top-up-${key}`, (stripe, options) =>
    stripe.invoices.create(
      {
        customer,
        auto_advance: false,
        collection_method: "charge_automatically",
        pending_invoice_items_behavior: "exclude",
        metadata: { account, price, thousandths: String(thousandths), top_up: id },
        // Without it, it is the customer's, which the price need not have.
        ...(sold && { currency: chargedIn(sold, customersCurrency).currency }),
        ...(requireBilling().hasTax && { automatic_tax: { enabled: true } }),
      },
      options,
    ),
  );
  const { id: invoice, lines } = made;
  if (lines.data.length === 0)
    await changeAtStripe(`top-up-item-${key}`, (stripe, options) =>
      stripe.invoiceItems.create({ customer, invoice, pricing: { price }, quantity: 1 }, options),
    );
  const keeping = updateOpen(db, id).set({ session_id: invoice }).where("session_id", "is", null);
  return (await hasRow(keeping.returning("id"))) ? readInvoice(invoice) : undefined;
}

/** Ends a purchase of which nothing was paid. */
async function giveUp(db: Db, { id }: Checkout, state: "expired" | "failed"): Promise<void> {
  await updateOpen(db, id).set({ state }).execute();
}
