import type { Stripe } from "stripe";
import { limitOf } from "@/lib/billing/prices";
import { idOf, requireBilling } from "@/lib/billing/stripe";
import { isWhollyReturned } from "@/lib/billing/stripe-charge";
import { dayMs } from "@/lib/config/durations";
import type { Tables } from "@/lib/db/tables";

export type Row = Tables["billing_subscriptions"];
type Terms = Pick<
  Row,
  "status" | "assistant_limit" | "period_ends_ms" | "unpaid_since_ms" | "ends_at_ms" | "licence_until_ms"
>;

/** Whether a subscription has ended at Stripe. */
export const hasEnded = ({ status }: Pick<Stripe.Subscription, "status">) =>
  ["canceled", "incomplete_expired"].includes(status);

const graceMs = () => requireBilling().graceDays * dayMs;

/**
 * Until when a subscription is a licence, by its own state and its items' current period: an active one some days beyond
 * the period, because Stripe may be away when it begins the next one; one that is not paid, those days beyond what was
 * paid, while Stripe still tries to collect. One that is over keeps the end that its owner was told.
 */
export async function readTerms(
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
export function termsOfGone(known: Row, nowMs: number): Terms {
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
