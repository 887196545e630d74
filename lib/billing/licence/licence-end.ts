import type { Stripe } from "stripe";
import { daysOf, readBefore, readUnsettled } from "@/lib/billing/licence/unpaid-change";
import { type LicenceItem, limitOfItems } from "@/lib/billing/prices/licence-prices";
import { hasEnded } from "@/lib/billing/stripe/calls";
import { isAtBank, type Payment, readPeriod } from "@/lib/billing/stripe/payments";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { requireBilling } from "@/lib/http/checks/billing";

export type Row = Tables["billing_subscriptions"];
/** A subscription as it was read, its items that are for a licence, and what the store has of it. */
type Asked = {
  subscription: Stripe.Subscription;
  items: LicenceItem<Stripe.SubscriptionItem>[];
  known: Row | undefined;
};

/**
 * What its terms follow from: its latest item, of several the one of the best plan, what it contained before an unpaid change,
 * its payments and its open invoices.
 */
type Facts = Asked & {
  item: Stripe.SubscriptionItem;
  before: Awaited<ReturnType<typeof readBefore>>;
  /** When the first period began that is not paid, in Unix seconds, if the store does not know it yet. */
  firstUnpaid: number | undefined;
  payments: Payment[];
  /** Whether all that was paid was: for the running period, or else for the one before the first unpaid one. */
  isReturned: boolean;
  open: Stripe.Invoice[];
  /** Whether a bank was asked for the latest payment that is missing, and has not answered. */
  isAtBank: boolean;
};

/** What a subscription is, and until when it is a licence by that; `undefined` if it is none. */
type State = Pick<Row, "status" | "unpaid_since_ms"> & {
  status_reason: Reason | null;
  untilMs: number | undefined;
};

/**
 * Why a subscription has its status: its latest `change` is not paid, an `invoice` by mail is open, its collection is
 * paused, its `trial` ended without a card, or it was paused by `request`. One that was refunded may be `cancelled` as well, and
 * a `bank` may have been asked for a payment that is not made.
 */
type Reason = "change" | "invoice" | "collection" | "trial" | "request" | "cancelled" | "bank";

const daySeconds = dayMs / 1000;
const graceMs = () => requireBilling().graceDays * dayMs;

/**
 * Until when a subscription is a licence, and what it contains. What was paid runs to its end; then there are days of grace
 * while Stripe still tries to collect, or if Stripe is away. While a change is not paid, it contains what it did before.
 *
 * @returns next to its terms, the payments for its period and the invoices that are open
 */
export async function readTerms(db: Db, asked: Asked, nowMs: number) {
  const facts = await readFacts(db, asked, nowMs);
  const { payments, open } = facts;
  return { terms: termsOf(facts, stateOf(facts, nowMs), nowMs), payments, open };
}

async function readFacts(db: Db, { subscription, items, known }: Asked, nowMs: number): Promise<Facts> {
  const best = items.toSorted((one, other) => (other.plan?.position ?? 0) - (one.plan?.position ?? 0));
  const [item] = (best.length > 0 ? best : subscription.items.data).toSorted(
    (one, other) => other.current_period_end - one.current_period_end,
  );
  if (!item) throw new Error("a subscription has no item");
  const unsettled = await readUnsettled(subscription);
  const open = unsettled.filter((invoice) => invoice.status === "open");
  const before = await readBefore(db, { subscription, unsettled, known }, nowMs);
  const isNewlyFailing = subscription.status === "past_due" && !before && !known?.unpaid_since_ms;
  const firstUnpaid = isNewlyFailing ? firstUnpaidOf(open, item) : undefined;
  const paidSince = before?.paidSince ?? (firstUnpaid && firstUnpaid - daysOf(item.price) * daySeconds);
  const { payments, isReturned } = mayBePaid(subscription, before)
    ? await readPeriod(subscription.id, paidSince ?? item.current_period_start)
    : { payments: [], isReturned: false };
  const [missing] = ["incomplete", "past_due"].includes(subscription.status) ? open : [];
  const ofBank = { isAtBank: missing ? await isAtBank(missing.id) : false };
  return { subscription, items, known, item, before, firstUnpaid, payments, isReturned, open, ...ofBank };
}

const mayBePaid = ({ status }: Stripe.Subscription, before: object | undefined) =>
  !hasEnded({ status }) && status !== "incomplete" && (status !== "unpaid" || before !== undefined);

const goesOn = ({ status }: Pick<State, "status">) => ["active", "trialing"].includes(status);

function termsOf(facts: Facts, { untilMs: byPayment, ...state }: State, nowMs: number) {
  const { subscription, items, item, before } = facts;
  const periodEndsMs = item.current_period_end * 1000;
  const cancelAtMs = cancelAtMsOf(facts);
  const isLicence = items.length > 0 || before !== undefined;
  const untilMs = isLicence && byPayment ? Math.min(byPayment, cancelAtMs ?? byPayment) : undefined;
  const runsUntilMs = untilMs && untilMs > nowMs ? untilMs : undefined;
  return {
    ...state,
    price_id: before ? before.price_id : item.price.id,
    assistant_limit: before ? before.assistant_limit : limitOfItems(items),
    period_ends_ms: periodEndsMs,
    period_starts_ms: item.current_period_start * 1000,
    cycle_anchor_ms: subscription.billing_cycle_anchor * 1000,
    ends_at_ms: runsUntilMs
      ? goesOn(state)
        ? cancelAtMs
        : runsUntilMs
      : endOf(facts, untilMs ?? state.unpaid_since_ms ?? nowMs, nowMs),
    licence_until_ms: runsUntilMs ?? 0,
  };
}

/** When a subscription ends that was cancelled; null for one that was not. */
function cancelAtMsOf({ subscription: { cancel_at_period_end, cancel_at }, item }: Facts): number | null {
  return cancel_at_period_end ? item.current_period_end * 1000 : cancel_at && cancel_at * 1000;
}

/** When a subscription that is no licence ended. One that has ended keeps the end that its owner was told. */
function endOf({ subscription, known }: Facts, stoppedAtMs: number, nowMs: number): number | null {
  const { status, ended_at } = subscription;
  if (known?.licence_until_ms === 0 && known.ends_at_ms) return known.ends_at_ms;
  if (hasEnded({ status })) return ended_at ? ended_at * 1000 : nowMs;
  if (status === "incomplete") return null;
  return Math.min(known?.licence_until_ms || stoppedAtMs, nowMs);
}

function stateOf(facts: Facts, nowMs: number): State {
  const { subscription, item, open, known, before, firstUnpaid, isReturned } = facts;
  const { status, trial_end, collection_method, pause_collection } = subscription;
  const { current_period_start } = item;
  const [startMs, endMs] = [current_period_start * 1000, item.current_period_end * 1000];
  const paidUntilMs = before?.paidUntilMs;
  const none: State = { status, status_reason: null, unpaid_since_ms: null, untilMs: undefined };
  if (hasEnded(subscription)) {
    const wasFree =
      known?.status_reason === "trial" || (trial_end !== null && current_period_start < trial_end);
    return wasFree ? { ...none, status_reason: "trial" } : none;
  }
  if (status === "incomplete") return { ...none, status_reason: facts.isAtBank ? "bank" : null };
  if (isReturned && !firstUnpaid) {
    const isCancelled = (cancelAtMsOf(facts) ?? Number.POSITIVE_INFINITY) <= endMs;
    return { ...none, status: "refunded", status_reason: isCancelled ? "cancelled" : null };
  }
  const pause = status === "paused" ? pauseOf(subscription, current_period_start) : undefined;
  if (pause === "trial")
    return { ...none, status_reason: pause, untilMs: trial_end ? trial_end * 1000 : undefined };
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
    const isOwing = paidUntilMs !== undefined || open.length > 0;
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
        : facts.isAtBank
          ? "bank"
          : current_period_start === trial_end
            ? "trial"
            : null,
    unpaid_since_ms: unpaidSinceMs,
    untilMs: isOver ? undefined : unpaidSinceMs + (isGivenUp ? 0 : graceMs()),
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
export function termsOfGone(known: Row, nowMs: number) {
  const { status_reason, price_id, assistant_limit, unpaid_since_ms } = known;
  const { period_ends_ms, period_starts_ms, cycle_anchor_ms } = known;
  const untilMs =
    known.status === "gone" ? known.licence_until_ms : Math.min(known.licence_until_ms, nowMs + graceMs());
  return {
    status: "gone",
    status_reason,
    price_id,
    assistant_limit,
    period_ends_ms,
    period_starts_ms,
    cycle_anchor_ms,
    unpaid_since_ms,
    ends_at_ms: known.status === "gone" ? known.ends_at_ms : Math.max(untilMs, known.ends_at_ms ?? 0),
    licence_until_ms: untilMs > nowMs ? untilMs : 0,
  };
}
