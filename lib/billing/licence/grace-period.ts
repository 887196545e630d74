import type { Stripe } from "stripe";
import { daysOf, readBefore } from "@/lib/billing/licence/unpaid-change";
import { limitOf } from "@/lib/billing/prices/prices";
import { callStripe, hasEnded, requireBilling } from "@/lib/billing/stripe/calls";
import { type Payment, readPeriod } from "@/lib/billing/stripe/payments";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

export type Row = Tables["billing_subscriptions"];
type Terms = Pick<
  Row,
  | "status"
  | "status_reason"
  | "price_id"
  | "assistant_limit"
  | "period_ends_ms"
  | "unpaid_since_ms"
  | "ends_at_ms"
  | "licence_until_ms"
>;

/** What a subscription is, and until when it is a licence by that. */
type State = Pick<Terms, "status" | "unpaid_since_ms"> & { status_reason: Reason | null; untilMs: number };

/** What was read of a subscription, with the payments for its period and the invoices that are open. */
type Reading = { terms: Terms; payments: Payment[]; open: Stripe.Invoice[] };

/**
 * Why a subscription has its status: its latest `change` is not paid, an `invoice` by mail is open, its collection is
 * paused, its `trial` ended without a card, or it was paused by `request`.
 */
export type Reason = "change" | "invoice" | "collection" | "trial" | "request";

const daySeconds = dayMs / 1000;
const graceMs = () => requireBilling().graceDays * dayMs;

/**
 * Until when a subscription is a licence, and what it contains. What was paid runs to its end; then there are days of grace
 * while Stripe still tries to collect, or if Stripe is away. While a change is not paid, it contains what it did before.
 */
export async function readTerms(
  db: Db,
  subscription: Stripe.Subscription,
  items: Stripe.SubscriptionItem[],
  known: Row | undefined,
  nowMs: number,
): Promise<Reading> {
  const [item] = (items.length > 0 ? items : subscription.items.data).toSorted(
    (one, other) => other.current_period_end - one.current_period_end,
  );
  if (!item) throw new Error("a subscription has no item");
  const open = await readOpen(subscription);
  const before = await readBefore(db, subscription, open, known, nowMs);
  const isNewlyFailing = subscription.status === "past_due" && !before && !known?.unpaid_since_ms;
  const firstUnpaid = isNewlyFailing ? firstUnpaidOf(open, item) : undefined;
  const paidSince = firstUnpaid && firstUnpaid - daysOf(item.price) * daySeconds;
  const period = mayBePaid(subscription, before)
    ? await readPeriod(subscription.id, before?.paidSince ?? paidSince ?? item.current_period_start)
    : undefined;
  const isReturned = period?.isReturned === true;
  const paid = { untilMs: before?.paidUntilMs, firstUnpaid, isReturned };
  const state = readState(subscription, item, open, known, paid, nowMs);
  const endMs = item.current_period_end * 1000;
  const { cancel_at_period_end, cancel_at } = subscription;
  const cancelAtMs = cancel_at_period_end ? endMs : cancel_at && cancel_at * 1000;
  const isLicence = items.length > 0 || before !== undefined;
  const untilMs = isLicence ? Math.min(state.untilMs, cancelAtMs ?? state.untilMs) : 0;
  const terms = {
    status: state.status,
    status_reason: state.status_reason,
    price_id: before ? before.price_id : item.price.id,
    assistant_limit: before ? before.assistant_limit : limitOf(items),
    period_ends_ms: endMs,
    unpaid_since_ms: state.unpaid_since_ms,
    ends_at_ms:
      untilMs <= nowMs
        ? findEnd(subscription, { ...state, untilMs }, known, nowMs)
        : goesOn(state)
          ? cancelAtMs
          : untilMs,
    licence_until_ms: untilMs > nowMs ? untilMs : 0,
  };
  return { terms, payments: period?.payments ?? [], open };
}

const mayBePaid = ({ status }: Stripe.Subscription, before: object | undefined) =>
  !hasEnded({ status }) && status !== "incomplete" && (status !== "unpaid" || before !== undefined);

const goesOn = ({ status }: Pick<State, "status">) => ["active", "trialing"].includes(status);

/** When a subscription that is no licence ended. One that has ended keeps the end that its owner was told. */
function findEnd(
  { status, ended_at }: Stripe.Subscription,
  { untilMs, unpaid_since_ms }: State,
  known: Row | undefined,
  nowMs: number,
): number | null {
  if (known?.licence_until_ms === 0 && known.ends_at_ms) return known.ends_at_ms;
  if (hasEnded({ status })) return ended_at ? ended_at * 1000 : nowMs;
  if (status === "incomplete") return null;
  return Math.min(known?.licence_until_ms || untilMs || (unpaid_since_ms ?? nowMs), nowMs);
}

/**
 * What was paid.
 *
 * @property untilMs - its end, before a change that is not paid
 * @property firstUnpaid - when the first period began that is not paid, in Unix seconds, if the store does not know it yet
 * @property isReturned - whether all of it was: for the running period, or else for the one before the first unpaid one
 */
type Paid = { untilMs: number | undefined; firstUnpaid: number | undefined; isReturned: boolean };

function readState(
  subscription: Stripe.Subscription,
  { current_period_start, current_period_end }: Stripe.SubscriptionItem,
  open: Stripe.Invoice[],
  known: Row | undefined,
  { untilMs: paidUntilMs, firstUnpaid, isReturned }: Paid,
  nowMs: number,
): State {
  const { status, trial_end, collection_method, pause_collection } = subscription;
  const [startMs, endMs] = [current_period_start * 1000, current_period_end * 1000];
  const none: State = { status, status_reason: null, unpaid_since_ms: null, untilMs: 0 };
  if (hasEnded(subscription)) {
    const wasFree =
      known?.status_reason === "trial" || (trial_end !== null && current_period_start < trial_end);
    return wasFree ? { ...none, status_reason: "trial" } : none;
  }
  if (status === "incomplete") return none;
  if (isReturned && !firstUnpaid) return { ...none, status: "refunded" };
  const pause = status === "paused" ? pauseOf(subscription, current_period_start) : undefined;
  if (pause === "trial") return { ...none, status_reason: pause, untilMs: (trial_end ?? 0) * 1000 };
  const dueMs = collection_method === "send_invoice" ? dueDateOf(open) : undefined;
  if (goesOn({ status }) && !(dueMs && dueMs <= nowMs)) {
    // A change whose invoice was dropped stays one, so that a later reading knows what was paid before it.
    const isDropped = paidUntilMs !== undefined;
    const status_reason = isDropped ? "change" : pause_collection ? "collection" : dueMs ? "invoice" : null;
    return {
      status,
      status_reason,
      unpaid_since_ms: paidUntilMs ?? dueMs ?? null,
      untilMs: (paidUntilMs ?? endMs) + graceMs(),
    };
  }
  const unpaidSinceMs =
    paidUntilMs ?? dueMs ?? known?.unpaid_since_ms ?? (firstUnpaid ? firstUnpaid * 1000 : startMs);
  if (pause === "request") {
    const isOwing = (paidUntilMs ?? dueMs) !== undefined || open.length > 0;
    const unpaid_since_ms = isOwing ? unpaidSinceMs : null;
    return { ...none, status_reason: pause, unpaid_since_ms, untilMs: unpaid_since_ms ?? endMs };
  }
  // A renewal that is not paid gives nothing back, for example after a refund.
  const isOver = isReturned || (known?.licence_until_ms === 0 && unpaidSinceMs <= startMs);
  const isGivenUp = status === "unpaid" || status === "paused";
  return {
    status: isGivenUp ? "unpaid" : "past_due",
    status_reason: paidUntilMs
      ? "change"
      : dueMs
        ? "invoice"
        : current_period_start === trial_end
          ? "trial"
          : null,
    unpaid_since_ms: unpaidSinceMs,
    untilMs: isOver ? 0 : unpaidSinceMs + (isGivenUp ? 0 : graceMs()),
  };
}

/** Why a subscription is paused. Before Stripe said it, only the end of a trial without a card paused one. */
function pauseOf(
  { status_details, trial_end }: Stripe.Subscription,
  start: number,
): "trial" | "request" | "payment" {
  const type = status_details?.paused?.subscription.type;
  if (type?.endsWith("payment_failure")) return "payment";
  const isTrial = type
    ? type === "trial_end_without_payment_method"
    : trial_end !== null && start < trial_end;
  return isTrial ? "trial" : "request";
}

/** The open invoices of a subscription, of which one that Stripe counts as paid can only have its latest. */
async function readOpen(subscription: Stripe.Subscription): Promise<Stripe.Invoice[]> {
  const { id, status, collection_method, latest_invoice: latest } = subscription;
  if (collection_method !== "send_invoice" && !["past_due", "unpaid", "paused"].includes(status))
    return typeof latest === "object" && latest?.status === "open" ? [latest] : [];
  const open = { subscription: id, status: "open", limit: 100 } as const;
  return (await callStripe((stripe) => stripe.invoices.list(open))).data;
}

/** When the oldest open invoice that was sent by mail is or was due; `undefined` if none is open. */
function dueDateOf(open: Stripe.Invoice[]): number | undefined {
  const dates = open.flatMap(({ due_date }) => due_date ?? []);
  return dates.length > 0 ? Math.min(...dates) * 1000 : undefined;
}

/** When the first period began of those whose invoices are open, in Unix seconds: a restored store knows only the last one. */
function firstUnpaidOf(open: Stripe.Invoice[], { current_period_start }: Stripe.SubscriptionItem): number {
  const ofPeriods = open.filter(({ billing_reason }) => billing_reason === "subscription_cycle");
  return Math.min(current_period_start, ...ofPeriods.map(({ created }) => created));
}

/** A subscription that Stripe no longer knows: the key is another account's, or it was a test's. */
export function termsOfGone(known: Row, nowMs: number): Terms {
  const { status_reason, price_id, assistant_limit, period_ends_ms, unpaid_since_ms } = known;
  const untilMs =
    known.status === "gone" ? known.licence_until_ms : Math.min(known.licence_until_ms, nowMs + graceMs());
  return {
    status: "gone",
    status_reason,
    price_id,
    assistant_limit,
    period_ends_ms,
    unpaid_since_ms,
    ends_at_ms: known.status === "gone" ? known.ends_at_ms : Math.max(untilMs, known.ends_at_ms ?? 0),
    licence_until_ms: untilMs > nowMs ? untilMs : 0,
  };
}
