import { randomUUID } from "node:crypto";
import type { Stripe } from "stripe";
import type { Account } from "@/lib/accounts/account";
import { ensureCustomer, openPortal } from "@/lib/billing/customer/customer";
import { type Checkout, selectBegun } from "@/lib/billing/fulfilment/bought-credits";
import { fulfil } from "@/lib/billing/fulfilment/fulfilment";
import { collectPurchasesOf } from "@/lib/billing/fulfilment/purchases-at-stripe";
import { endSubscription, refreshLive } from "@/lib/billing/licence/subscription";
import { creditsOf, readPrice } from "@/lib/billing/prices/prices";
import {
  changeAtStripe,
  endAtStripe,
  findAtStripe,
  listAtStripe,
  StripeFailure,
} from "@/lib/billing/stripe/calls";
import { settings } from "@/lib/config/settings";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { requireBilling } from "@/lib/http/checks/billing";
import { ApiError } from "@/lib/http/errors";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { isReplaceable } from "@/lib/plans/licence-state";
import { listSold } from "@/lib/plans/plan-prices";
import { findCustomer } from "@/lib/plans/purchases";
import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";

type Kind = "licence" | "credits";
type Sale = Pick<Checkout, "kind" | "price_id" | "thousandths">;

const maxRounds = 3;

/**
 * Begins to buy at Stripe Checkout. An account has one open checkout of each kind, whichever tab it was begun in: the
 * same price leads to the same checkout, another price ends the earlier one. No row is locked while Stripe is asked; the
 * row's id is the idempotency key, so a repeated or interrupted attempt finds what it made. Who has a subscription that is
 * not paid is led to pay it; one that gives nothing and asks for nothing is ended first.
 *
 * @returns the address of the checkout or the portal; `undefined` if the account pays for a licence, or has just bought this one
 */
export async function beginCheckout(
  db: Db,
  account: Account,
  { kind, priceId }: { kind: Kind; priceId: string },
  nowMs: number,
): Promise<string | undefined> {
  const sale = await describeSale(db, account, { kind, priceId }, nowMs);
  try {
    for (let round = 0; round < maxRounds; round++) {
      // A buyer whom the store does not know may have bought all the same: it may be a restored one.
      if (!(await findCustomer(db, account.id)))
        for (const purchase of await collectPurchasesOf(db, account, nowMs))
          await fulfil(db, purchase, "another checkout", nowMs);
      const customer = kind === "licence" && (await findCustomer(db, account.id))?.customer_id;
      const live = customer ? await refreshLive(db, account.id, customer, nowMs) : [];
      if (live.some(({ status }) => status === "past_due" || status === "unpaid"))
        return await openPortal(db, account, nowMs);
      if (!live.every(isReplaceable)) return undefined;
      for (const replaced of live) await endSubscription(db, replaced, nowMs);
      if (live.length > 0) continue;
      const checkout = await openCheckout(db, account.id, sale, nowMs);
      const session = await findOrCreateSession(db, account, checkout, nowMs);
      if (session?.status === "open" && session.url && checkout.price_id === priceId) return session.url;
      if (session?.status === "open") await endAtStripe(session.id);
      if (session) await fulfil(db, { checkout: session.id }, "another checkout", nowMs);
    }
    throw new Error("other checkouts came in between");
  } catch (failure) {
    if (failure instanceof ApiError) throw failure;
    log().warn({ err: failure }, "a checkout could not be started");
    throw new ApiError("checkout_failed");
  }
}

/** Throws an {@link ApiError} if this is not sold to the account. */
export async function describeSale(
  db: Db,
  account: Account,
  { kind, priceId: price_id }: { kind: Kind; priceId: string },
  nowMs: number,
): Promise<Sale> {
  const { creditPrices } = requireBilling();
  if (account.deletes_at_ms !== null)
    throw new ApiError("invalid_request", {
      message: "Nothing is sold to an account that will be deleted.",
      hint: `Keep the account first, at ${settings().appUrl}${pages.account.path}.`,
    });
  if (kind === "credits" && creditPrices.length === 0) throw new ApiError("credits_not_configured");
  if (kind === "credits" && account.plan !== "licensed") throw new ApiError("paid_only");
  const sold = kind === "licence" ? (await listSold(db)).map(({ id }) => id) : creditPrices;
  if (!sold.includes(price_id)) {
    throw new ApiError("invalid_request", {
      message: "This is not for sale.",
      hint: `Choose at ${settings().appUrl}${pages.billing.path}.`,
    });
  }
  if (kind === "licence") return { kind, price_id, thousandths: 0 };
  const price = await readPrice(price_id, nowMs).catch(() => undefined);
  const credits = price && creditsOf(price);
  if (!credits) throw new ApiError("checkout_failed");
  return { kind, price_id, thousandths: credits * 1000 };
}

/** Returns the account's open checkout of this kind, or begins one. */
async function openCheckout(db: Db, accountId: string, sale: Sale, nowMs: number): Promise<Checkout> {
  const shared = { account_id: accountId, kind: sale.kind, state: "open" };
  const open = await db
    .selectFrom("billing_checkouts")
    .selectAll()
    .where((row) => row.and(shared))
    .executeTakeFirst();
  if (open) return open;
  const begun = await db
    .insertInto("billing_checkouts")
    .values({ id: randomUUID(), ...sale, ...shared, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (begun) metrics()?.purchases.inc({ outcome: "begun" });
  return begun ?? openCheckout(db, accountId, sale, nowMs);
}

/**
 * The checkout at Stripe; `undefined` if Stripe no longer has it, a concurrent request makes it or has given it up, or another
 * one that could be paid has been ended first.
 */
async function findOrCreateSession(
  db: Db,
  account: Account,
  checkout: Checkout,
  nowMs: number,
): Promise<Stripe.Checkout.Session | undefined> {
  const { id, session_id } = checkout;
  let session: Stripe.Checkout.Session | undefined;
  try {
    const customer = await ensureCustomer(db, account, id, nowMs);
    if (session_id) {
      session = await findAtStripe((stripe) => stripe.checkout.sessions.retrieve(session_id));
      const isPayable = session?.status !== "open" || session.customer === customer;
      if (session && isPayable) return session;
      if (session) await endAtStripe(session_id);
      await giveUp(db, checkout, "expired");
      return undefined;
    }
    if (await expireStrays(customer, checkout)) return undefined;
    session = await changeAtStripe(`checkout-${id}`, (stripe, options) =>
      stripe.checkout.sessions.create(describeSession(customer, checkout), options),
    );
  } catch (failure) {
    if (session_id || !(failure instanceof StripeFailure) || failure.status === undefined) throw failure;
    if (failure.code === "idempotency_key_in_use") return undefined;
    // Stripe repeats its answer to a key for a day, so the next attempt needs another one.
    await giveUp(db, checkout, "failed");
    throw failure;
  }
  const open = updateOpen(db, id).set({ session_id: session.id });
  return (await hasRow(open.returning("id"))) ? session : undefined;
}

/** Ends open checkouts of this kind that a restore or a failover took from the store. Returns whether there were any. */
async function expireStrays(customer: string, checkout: Checkout): Promise<boolean> {
  const asked = { customer, status: "open" } as const;
  let hasAny = false;
  for await (const { id, mode, metadata } of listAtStripe((stripe, page) =>
    stripe.checkout.sessions.list({ ...asked, ...page }),
  )) {
    if (mode !== modeOf(checkout) || metadata?.account !== checkout.account_id) continue;
    if (metadata.checkout === checkout.id) continue; // a concurrent request has just made it
    await endAtStripe(id);
    hasAny = true;
  }
  return hasAny;
}

const modeOf = ({ kind }: Checkout) => (kind === "licence" ? "subscription" : "payment");

/** Ends the open checkouts of accounts that will be deleted, so that no one pays for them. */
export async function endCheckoutsOfLeavers(db: Db, nowMs: number): Promise<void> {
  const open = await selectBegun(db)
    .innerJoin("accounts", "accounts.id", "account_id")
    .where("state", "=", "open")
    .where("deletes_at_ms", "is not", null)
    .execute();
  for (const purchase of open) {
    await endAtStripe(purchase.checkout);
    await fulfil(db, purchase, "account leave", nowMs);
  }
}

/** Ends a checkout that no one can pay, so that the next one is a new one. */
async function giveUp(db: Db, { id, session_id }: Checkout, state: "expired" | "failed"): Promise<void> {
  const open = updateOpen(db, id).set({ state });
  await open.where("session_id", session_id ? "=" : "is", session_id).execute();
}

/** Updates a checkout while it is open. */
export const updateOpen = (db: Db, id: string) =>
  db.updateTable("billing_checkouts").where("id", "=", id).where("state", "=", "open");

function describeSession(customer: string, checkout: Checkout): Stripe.Checkout.SessionCreateParams {
  const { account_id: account, kind, price_id: price, thousandths } = checkout;
  const { hasTax, hasPromotionCodes } = requireBilling();
  const home = `${settings().appUrl}${forms.returnFromCheckout.path}`;
  const metadata = { account, price, thousandths: String(thousandths), checkout: checkout.id };
  return {
    mode: modeOf(checkout),
    customer,
    line_items: [{ price, quantity: 1 }],
    success_url: `${home}?session={CHECKOUT_SESSION_ID}`,
    cancel_url: `${home}?cancelled`,
    metadata,
    ...(kind === "licence" ? { subscription_data: { metadata } } : { invoice_creation: { enabled: true } }),
    ...(hasPromotionCodes && { allow_promotion_codes: true }),
    ...(hasTax && {
      automatic_tax: { enabled: true },
      tax_id_collection: { enabled: true },
      billing_address_collection: "required",
      customer_update: { address: "auto", name: "auto" },
    }),
  };
}
