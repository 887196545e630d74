import type { Stripe } from "stripe";
import { differs, settleTerms } from "@/lib/accounts/effective-terms";
import { type Cause, changeAccount, tellOfSecond, tellOnce } from "@/lib/accounts/purchases";
import { alignEmail, findBuyer } from "@/lib/billing/customer";
import { findLicenceItems, wholeNumber } from "@/lib/billing/prices";
import { isWhollyReturned } from "@/lib/billing/returned-share";
import { findAtStripe, idOf, requireBilling } from "@/lib/billing/stripe";
import { dayMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { enqueuePaymentFailed } from "@/lib/mail/licence-mails";

type Row = Tables["billing_subscriptions"];
type Terms = Pick<
  Row,
  "status" | "assistant_limit" | "period_ends_ms" | "unpaid_since_ms" | "ends_at_ms" | "licence_until_ms"
>;

const maxReadings = 5;

/**
 * Reads a subscription at Stripe and stores until when it is a licence. A reading is stored only if no other one was stored
 * meanwhile. Ignores what is none of ours.
 */
export async function fulfilSubscription(db: Db, id: string, { event, nowMs }: Cause): Promise<void> {
  for (let reading = 0; reading < maxReadings; reading++) {
    const known = await findSubscription(db, id);
    const expand = ["customer", "latest_invoice"];
    const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id, { expand }));
    const items = subscription ? await findLicenceItems(subscription, nowMs) : [];
    if (subscription?.metadata.account && items.length === 0) {
      const prices = subscription.items.data.map(({ price }) => price.id).join(", ");
      await tellOnce(db, { what: "subscription for another price", whom: id, after: { prices } }, nowMs);
    }
    if (!known && items.length === 0) return;
    const buyer = known
      ? await accountBy(db, "id", known.account_id).select(["id", "email"]).executeTakeFirst()
      : subscription && (await findBuyer(db, subscription, !hasEnded(subscription), nowMs));
    if (!buyer) return;
    const terms = subscription
      ? await readTerms(subscription, items, known, nowMs)
      : known && termsOfGone(known, nowMs);
    if (!terms) return;
    const what = `subscription ${terms.status}`;
    const isSame = known && !differs(known, terms);
    const isStored =
      isSame ||
      (await changeAccount(db, buyer, what, nowMs, async (transaction, account) => {
        const current = await findSubscription(transaction, id);
        if ((current?.version ?? 0) !== (known?.version ?? 0)) return false;
        const created_at_ms = current?.created_at_ms ?? (subscription?.created ?? 0) * 1000;
        const row = { ...terms, version: (current?.version ?? 0) + 1 };
        await transaction
          .insertInto("billing_subscriptions")
          .values({ id, account_id: buyer.id, created_at_ms, ...row })
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute();
        if (terms.licence_until_ms > 0 && !current?.licence_until_ms)
          await tellOfSecond(transaction, buyer, id, nowMs);
        const isFailing = terms.status === "past_due" && terms.licence_until_ms > 0;
        if (isFailing && current?.unpaid_since_ms !== terms.unpaid_since_ms)
          await enqueuePaymentFailed(transaction, { id, ...terms }, nowMs);
        await settleTerms(transaction, account, nowMs);
        return true;
      }));
    if (!isStored) continue;
    const noted = {
      last_event: event,
      last_event_at_ms: nowMs,
      ...(subscription && invoiceColumns(subscription)),
    };
    await db.updateTable("billing_subscriptions").set(noted).where("id", "=", id).execute();
    const customer = subscription?.customer;
    if (typeof customer === "object" && !customer.deleted) await alignEmail(customer, buyer.email);
    return;
  }
  throw new Error("a subscription changed while it was read");
}

/** The states of a customer's subscriptions for a licence that have not ended at Stripe, after they were fulfilled. */
export async function readLiveStates(db: Db, customer: string, nowMs: number): Promise<string[]> {
  const all = await findAtStripe((stripe) => stripe.subscriptions.list({ customer, limit: 100 }));
  const states: string[] = [];
  for (const subscription of all?.data ?? []) {
    if (hasEnded(subscription) || (await findLicenceItems(subscription, nowMs)).length === 0) continue;
    await fulfilSubscription(db, subscription.id, { event: "another checkout", nowMs });
    states.push((await findSubscription(db, subscription.id))?.status ?? subscription.status);
  }
  return states;
}

const hasEnded = ({ status }: Pick<Stripe.Subscription, "status">) =>
  ["canceled", "incomplete_expired"].includes(status);

function findSubscription(db: Db, id: string): Promise<Row | undefined> {
  return db.selectFrom("billing_subscriptions").selectAll().where("id", "=", id).executeTakeFirst();
}

const graceMs = () => requireBilling().graceDays * dayMs;

/**
 * Until when a subscription is a licence, by its own state and its items' current period: an active one some days beyond
 * the period, because Stripe may be away when it begins the next one; one that is not paid, those days beyond what was
 * paid, while Stripe still tries to collect. One that is over keeps the end that its owner was told.
 */
async function readTerms(
  subscription: Stripe.Subscription,
  items: Stripe.SubscriptionItem[],
  known: Row | undefined,
  nowMs: number,
): Promise<Terms> {
  const { id, customer, cancel_at_period_end, ended_at } = subscription;
  const [item] = (items.length > 0 ? items : subscription.items.data).toSorted(
    (one, other) => other.current_period_end - one.current_period_end,
  );
  if (!item) throw new Error("a subscription has no item");
  const { current_period_start: start, current_period_end: end } = item;
  const countsAsPaid = ["active", "trialing", "past_due"].includes(subscription.status);
  const isReturned = countsAsPaid && (await isWhollyReturned(idOf(customer), id, start));
  const status = isReturned ? "refunded" : subscription.status;
  const isUnpaid = ["past_due", "unpaid", "paused"].includes(status);
  const unpaidSinceMs = isUnpaid ? (known?.unpaid_since_ms ?? findUnpaidFrom(subscription, item)) : null;
  // A renewal that is not paid gives nothing back, for example after a refund.
  const isOver = known?.licence_until_ms === 0 && (unpaidSinceMs ?? 0) <= start * 1000;
  const cancelAt = cancel_at_period_end ? end : subscription.cancel_at;
  const cancelAtMs = cancelAt === null ? Number.POSITIVE_INFINITY : cancelAt * 1000;
  const ends: Partial<Record<string, number>> = {
    active: end * 1000 + graceMs(),
    trialing: end * 1000 + graceMs(),
    past_due: isOver ? 0 : (unpaidSinceMs ?? 0) + graceMs(),
    unpaid: unpaidSinceMs ?? 0,
    paused: unpaidSinceMs ?? 0,
  };
  const untilMs = items.length === 0 ? 0 : Math.min(ends[status] ?? 0, cancelAtMs);
  let endsAtMs = cancelAt === null ? null : cancelAtMs;
  if (untilMs > nowMs) endsAtMs = isUnpaid ? untilMs : endsAtMs;
  else if (known?.licence_until_ms === 0 && known.ends_at_ms) endsAtMs = known.ends_at_ms;
  else if (hasEnded(subscription)) endsAtMs = (ended_at ?? nowMs / 1000) * 1000;
  else if (isUnpaid || status === "refunded")
    endsAtMs = Math.min(known?.licence_until_ms || (unpaidSinceMs ?? nowMs), nowMs);
  return {
    status,
    assistant_limit: limitOf(items),
    period_ends_ms: end * 1000,
    unpaid_since_ms: unpaidSinceMs,
    ends_at_ms: endsAtMs,
    licence_until_ms: untilMs > nowMs ? untilMs : 0,
  };
}

/**
 * Since when a subscription is not paid: from the start of its period, or from its end if only a change within it was not
 * paid. A change of the interval begins a period of its own, and a paused one ended with its trial.
 */
function findUnpaidFrom(
  { latest_invoice: invoice, status, trial_end }: Stripe.Subscription,
  { current_period_start: start, current_period_end: end }: Stripe.SubscriptionItem,
): number {
  const isChange =
    typeof invoice === "object" &&
    invoice?.billing_reason === "subscription_update" &&
    invoice.created - start > 60;
  if (status === "paused") return (trial_end ?? start) * 1000;
  return (isChange ? end : start) * 1000;
}

/** A subscription that Stripe no longer knows: the key is another account's, or it was a test's. */
function termsOfGone(known: Row, nowMs: number): Terms {
  const { assistant_limit, period_ends_ms, unpaid_since_ms } = known;
  const untilMs =
    known.status === "gone" ? known.licence_until_ms : Math.min(known.licence_until_ms, nowMs + graceMs());
  return {
    status: "gone",
    assistant_limit,
    period_ends_ms,
    unpaid_since_ms,
    ends_at_ms: known.status === "gone" ? known.ends_at_ms : Math.max(untilMs, known.ends_at_ms ?? 0),
    licence_until_ms: untilMs > nowMs ? untilMs : 0,
  };
}

function invoiceColumns({ items, latest_invoice: invoice }: Stripe.Subscription) {
  const whole = invoice && typeof invoice === "object" ? invoice : undefined;
  return {
    price_id: items.data[0]?.price.id ?? null,
    invoice_id: whole?.id ?? null,
    invoice_status: whole?.status ?? null,
    amount_due: whole && whole.status !== "paid" && whole.status !== "void" ? whole.amount_remaining : 0,
    currency: whole?.currency ?? null,
  };
}

/** The limit of assistants that comes with a licence, by its prices and how many of each; null if there is none. */
function limitOf(items: Pick<Stripe.SubscriptionItem, "price" | "quantity">[]): number | null {
  const limits = items.map(({ price, quantity = 1 }) => {
    const limit = wholeNumber(price.metadata.assistant_limit);
    return limit === undefined ? Number.POSITIVE_INFINITY : limit * quantity;
  });
  const sum = limits.reduce((all, limit) => all + limit, 0);
  return Number.isSafeInteger(sum) ? sum : null;
}
