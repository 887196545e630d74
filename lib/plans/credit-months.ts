import { dayMs } from "@/lib/config/durations";
import type { Tables } from "@/lib/db/tables";
import type { Plan } from "@/lib/plans/plan";

/*
 * When a plan's credits are given, and how many.
 *
 * - **A month** begins at its account's day and time (UTC); where a month lacks the day, on its last day, and later on the
 *   day again, as at Stripe. What is paid has the day of its subscription (`billing_cycle_anchor`), also where the price is
 *   yearly. What is free (a trial, hobby, a licence that an operator gives) has one day: that on which an account was opened,
 *   or got its first plan that gives credits. A free time at Stripe is a month of its own, however long it is.
 * - **Once a month**: the credits of the plan, at its beginning. A better plan gives the difference at once and a lesser one
 *   takes nothing back, so that going down and up again gives nothing. A plan's credits that are edited count from the
 *   next month. Of two licences, the one that is the account's plan gives.
 * - **A new paid period** (a licence is bought, or goes from monthly to yearly) begins a month. What was free does not count
 *   against it. What was paid counts by the part of its month that is left, as Stripe counts the money.
 * - **Not while unpaid**: a month that begins when nothing is paid waits. Once paid, the months of the period that is paid
 *   are given, and those of periods that no one paid are not.
 * - **Missed months** are given, each once and twelve at most: the service was away, or the store is an older one.
 * - What was given is the account's. Neither an end nor a refund takes it back; an operator does, with `credits add`.
 */

/** The month of an account: what its plan gave for it. `is_unpaid` while the next one waits for a payment. */
export type CreditMonth = Omit<Tables["credit_months"], "account_id">;

/** What may give credits: a plan, from when and until when. What is paid has a day, and the start of its current period. */
export type CreditSource = {
  plan: Plan;
  fromMs: number;
  untilMs: number;
  ofStripe?: { anchorMs: number; periodMs: number; isFree: boolean; isStopped: boolean };
};

type Given = { plan: Plan; thousandths: number; isMore: boolean };

const maxMissed = 12;
const secondMs = 1000; // Stripe's instants are whole seconds

/** Whether what Stripe gives began after a month did, or in the same second. */
const isLater = ({ fromMs }: CreditSource, startsMs: number) => fromMs > startsMs - secondMs;

/**
 * What is to be given by `nowMs`, the month after that, and when the next one is due: null if nothing may be given before
 * something else changes, which `isWaiting` says of the known month.
 */
export function giveMonths(
  known: (CreditMonth & { isWaiting: boolean }) | undefined,
  sources: CreditSource[],
  nowMs: number,
): { month: CreditMonth | undefined; given: Given[]; dueMs: number | null } {
  const given: Given[] = [];
  const sourceAt = (atMs: number, anchorMs?: number) => findSource(sources, atMs, anchorMs);
  const begin = ({ plan, ofStripe }: CreditSource, anchor_ms: number, starts_ms: number, counted = 0) => {
    const thousandths = Math.max(counted, plan.credit_thousandths);
    given.push({ plan, thousandths: thousandths - counted, isMore: false });
    const is_paid = Number(ofStripe?.isFree === false);
    return { anchor_ms, starts_ms, plan: plan.name, thousandths, is_paid, is_unpaid: 0 };
  };
  const now = sourceAt(nowMs, known?.anchor_ms);
  if (!known) {
    if (!now) return { month: undefined, given, dueMs: null };
    const anchorMs = now.ofStripe?.anchorMs ?? now.fromMs;
    const month = begin(now, anchorMs, startOfMonth(anchorMs, nowMs));
    return { month, given, dueMs: dueOf(month) };
  }
  const { isWaiting, ...kept } = known;
  let month: CreditMonth = kept;
  if (now?.ofStripe && !isLater(now, month.starts_ms)) month.anchor_ms = now.ofStripe.anchorMs;
  if (isWaiting && now && !now.ofStripe && nextMonth(month.anchor_ms, month.starts_ms) <= nowMs)
    month = begin(now, nowMs, nowMs);
  const paidFromMs = (known.is_unpaid && now?.ofStripe?.periodMs) || 0;
  for (;;) {
    const nextMs = nextOf(month);
    const bought = findBought(month);
    const source = nextMs <= nowMs ? sourceAt(nextMs, month.anchor_ms) : undefined;
    if (bought?.ofStripe && (bought.fromMs <= nextMs || !source))
      month = begin(bought, bought.ofStripe.anchorMs, bought.fromMs, countedOf(month, bought));
    else if (source) month = begin(source, month.anchor_ms, nextMs);
    else break;
  }
  const isOver = nextOf(month) <= nowMs;
  if (now && !isOver && now.plan.name !== month.plan) month = change(month, now);
  const stopped = sources.some(
    ({ ofStripe }) => ofStripe?.anchorMs === month.anchor_ms && ofStripe.isStopped,
  );
  return { month: { ...month, is_unpaid: Number(isOver && stopped) }, given, dueMs: dueOf(month) };

  /** The start of the next month that may be given. */
  function nextOf({ anchor_ms, starts_ms }: CreditMonth): number {
    const missedMs = monthAt(anchor_ms, monthsUntil(anchor_ms, nowMs) - maxMissed);
    return nextStart(sources, anchor_ms, Math.max(starts_ms, paidFromMs - 1, missedMs));
  }

  /** When a month is due that is paid already, or free. */
  function dueOf(month: CreditMonth): number | null {
    const nextMs = nextStart(sources, month.anchor_ms, month.starts_ms);
    return nextMs > nowMs && sourceAt(nextMs) ? nextMs : null;
  }

  /** The paid period that was the first to begin after the month did. */
  function findBought({ anchor_ms, starts_ms }: CreditMonth): CreditSource | undefined {
    return sources
      .filter(
        (source) =>
          source.ofStripe &&
          source.ofStripe.anchorMs !== anchor_ms &&
          isLater(source, starts_ms) &&
          source.fromMs <= nowMs &&
          sourceAt(source.fromMs, source.ofStripe.anchorMs) === source,
      )
      .toSorted((one, other) => one.fromMs - other.fromMs)[0];
  }

  function change(month: CreditMonth, { plan, ofStripe }: CreditSource): CreditMonth {
    const { credit_thousandths } = plan;
    if (!ofStripe && month.thousandths === 0 && credit_thousandths > 0)
      return begin({ plan, fromMs: nowMs, untilMs: nowMs }, nowMs, nowMs);
    const more = Math.max(0, credit_thousandths - month.thousandths);
    given.push({ plan, thousandths: more, isMore: month.thousandths > 0 });
    const is_paid = more > 0 ? Number(ofStripe?.isFree === false) : month.is_paid;
    return { ...month, plan: plan.name, thousandths: month.thousandths + more, is_paid };
  }
}

/** How much of what a month was given for counts for the one that begins before it ends. */
function countedOf(month: CreditMonth, { fromMs, ofStripe }: CreditSource): number {
  const nextMs = nextMonth(month.anchor_ms, month.starts_ms);
  if (nextMs <= fromMs) return 0;
  if (ofStripe?.isFree) return month.thousandths;
  const part = (nextMs - fromMs) / (nextMs - month.starts_ms);
  return month.is_paid ? Math.ceil(month.thousandths * part) : 0;
}

/** The start of a month so many after an anchor, in Unix milliseconds; before it if they are negative. */
export function monthAt(anchorMs: number, months: number): number {
  const anchor = new Date(anchorMs);
  const [year, month] = [anchor.getUTCFullYear(), anchor.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay)) + (anchorMs % dayMs);
}

/** How many months after an anchor the month of an instant begins. */
function monthsUntil(anchorMs: number, atMs: number): number {
  const [anchor, at] = [new Date(anchorMs), new Date(atMs)];
  const years = at.getUTCFullYear() - anchor.getUTCFullYear();
  const months = years * 12 + at.getUTCMonth() - anchor.getUTCMonth();
  return monthAt(anchorMs, months) <= atMs ? months : months - 1;
}

const startOfMonth = (anchorMs: number, atMs: number) => monthAt(anchorMs, monthsUntil(anchorMs, atMs));

/** When the first month of an account begins after an instant: none in a free time at Stripe, which is one of its own. */
export function nextStart(sources: CreditSource[], anchorMs: number, afterMs: number): number {
  const nextMs = nextMonth(anchorMs, afterMs);
  const source = findSource(sources, nextMs, anchorMs);
  if (source?.ofStripe?.isFree) return source.untilMs;
  // What is paid begins with its anchor, which is the end of the free time before it.
  return source ? nextMs : Math.max(nextMs, anchorMs);
}

/** What gives credits at an instant: the best plan, and of two alike that with these months. */
function findSource(sources: CreditSource[], atMs: number, anchorMs?: number): CreditSource | undefined {
  return sources
    .filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)
    .toSorted(
      (one, other) =>
        other.plan.position - one.plan.position ||
        Number(other.ofStripe?.anchorMs === anchorMs) - Number(one.ofStripe?.anchorMs === anchorMs),
    )[0];
}

/** The first start of a month after an instant. */
const nextMonth = (anchorMs: number, afterMs: number) =>
  monthAt(anchorMs, monthsUntil(anchorMs, afterMs) + 1);
