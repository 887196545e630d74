import type { ExpressionBuilder } from "kysely";
import { endCheckoutsOfLeavers } from "@/lib/billing/checkout";
import { tellChangedEmails } from "@/lib/billing/customer/customer";
import type { Buyer } from "@/lib/billing/customer/purchases";
import { selectBegun } from "@/lib/billing/fulfilment/bought-credits";
import { fulfil, type Purchase } from "@/lib/billing/fulfilment/fulfilment";
import {
  collectPurchasesOf,
  findNew,
  keepProgress,
  type Progress,
  readProgress,
} from "@/lib/billing/fulfilment/purchases-at-stripe";
import { endDueLicences } from "@/lib/billing/licence/subscription";
import { makePlansOfSettings } from "@/lib/billing/prices/licence-prices";
import { StripeFailure } from "@/lib/billing/stripe/calls";
import { buyDueCredits } from "@/lib/billing/top-ups/top-up";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { log } from "@/lib/runtime/log";
import { TimeoutError } from "@/lib/runtime/timeout";

export const reconcileEveryMs = 10 * 60 * 1000; // 10 minutes
const unsettledForMs = 15 * dayMs; // a checkout can be paid for a day, and a bank may take two weeks
const readAgainAfterMs = dayMs - reconcileEveryMs;
const unpaidAgainAfterMs = 60 * 60 * 1000; // 1 hour
const endedForMs = 60 * dayMs; // a dispute or a refund may still come, or a payment
const maxRead = 1000; // subscriptions in a round: 140,000 a day
const maxConcurrent = 5;
const maxMissed = 5; // then Stripe is away, and the rest waits for the next round

/**
 * Reads at Stripe what is new there, what is not settled here, and each subscription once a day, so that a lost event delays a
 * purchase or the end of a licence by one round, and any other change by a day. How far Stripe was read is kept in the store,
 * so one that was restored, or lost its last writes, reads everything since.
 *
 * @param buyer - reads everything that this account ever bought instead
 * @param isRestored - whether the store was restored just now, even if from a backup of minutes ago
 * @returns how many objects were read at Stripe, and how many of them could not be fulfilled
 */
export async function reconcile(
  db: Db,
  nowMs: number,
  { buyer, signal, isRestored }: { buyer?: Buyer; signal?: AbortSignal; isRestored?: true } = {},
): Promise<{ read: number; failed: number }> {
  const reconciled = { read: 0, failed: 0 };
  let missed = 0;
  const fail = (failure: unknown, purchase: object) => {
    reconciled.failed++;
    log().warn({ err: failure, ...purchase }, "a purchase could not be reconciled");
    if (isAway(failure)) missed++;
  };
  const unlessAway = <T>(reading: Promise<T>) =>
    reading.catch((failure) => {
      reconciled.read++;
      return void fail(failure, {});
    });
  if (!buyer) await unlessAway(makePlansOfSettings(db, nowMs));
  const progress = buyer ? undefined : await unlessAway(readProgress(db, nowMs));
  if (progress && isRestored) progress.isBehind = true;
  const purchases = buyer
    ? await collectPurchasesOf(db, buyer, nowMs)
    : [
        ...(await findUnsettled(db, progress, nowMs)),
        ...((progress && (await unlessAway(findNew(db, progress, nowMs)))) ?? []),
      ];
  const read = async (purchase: Purchase) => {
    reconciled.read++;
    await fulfil(db, purchase, "reconciler", nowMs).catch((failure) => fail(failure, purchase));
  };
  while (missed < maxMissed && purchases.length > 0 && !signal?.aborted)
    await Promise.all(purchases.splice(0, maxConcurrent).map(read));
  if (progress && missed === 0 && !signal?.aborted) await keepProgress(db, nowMs);
  await endCheckoutsOfLeavers(db, nowMs).catch((err) =>
    log().warn({ err }, "a leaver's checkout is open yet"),
  );
  await tellChangedEmails(db, nowMs).catch((err) => log().warn({ err }, "Stripe has an old email yet"));
  await endDueLicences(db, nowMs);
  if (!signal?.aborted) await buyDueCredits(db, nowMs);
  return reconciled;
}

/** Whether a failure is Stripe's, and not one object's, which must not keep the others from being read. */
function isAway(failure: unknown): boolean {
  if (!(failure instanceof StripeFailure)) return failure instanceof TimeoutError;
  const { status = 500 } = failure;
  return status >= 500 || [401, 403, 429].includes(status);
}

/** Checkouts that may be paid yet, oldest first. Automatic purchases that are open are gone on with on their own. */
function unsettled(db: Db, nowMs: number) {
  return selectBegun(db)
    .where("state", "in", ["open", "unpaid"])
    .where(({ or, eb }) => or([eb("kind", "<>", "top-up"), eb("state", "=", "unpaid")]))
    .where("created_at_ms", ">", nowMs - unsettledForMs)
    .orderBy("created_at_ms");
}

/** Since when the oldest checkout is open, in Unix milliseconds; `undefined` if none is. A bank's payment may take weeks. */
export async function findOldestOpen(db: Db, nowMs: number): Promise<number | undefined> {
  const open = unsettled(db, nowMs).select("created_at_ms").where("state", "=", "open");
  return (await open.executeTakeFirst())?.created_at_ms;
}

/**
 * Unsettled checkouts, licences that have changed or should have by now, and a day's part of the other subscriptions and paid
 * checkouts. A store that is behind has all of these read, as they were when it last was not.
 */
async function findUnsettled(db: Db, progress: Progress | undefined, nowMs: number): Promise<Purchase[]> {
  const unread = (eb: ExpressionBuilder<Tables, "billing_subscriptions" | "billing_checkouts">) =>
    eb.or([
      eb("last_event_at_ms", "is", null),
      eb("last_event_at_ms", "<=", nowMs - readAgainAfterMs),
      ...(progress?.isBehind
        ? [
            eb("last_event_at_ms", "<", progress.throughMs),
            // What an event has brought after Stripe was last read.
            eb.and([
              eb("last_event_at_ms", "<=", progress.throughMs + 2 * reconcileEveryMs),
              eb("last_event", "<>", "reconciler"),
            ]),
          ]
        : []),
    ]);
  const endedSinceMs = (progress?.isBehind ? progress.throughMs : nowMs) - endedForMs;
  const limit = progress?.isBehind ? Number.MAX_SAFE_INTEGER : maxRead;
  const subscriptions = await db
    .selectFrom("billing_subscriptions")
    .select("id as subscription")
    .where(({ or, and, eb, ref }) =>
      or([
        and([eb("licence_until_ms", ">", 0), eb("licence_until_ms", "<=", nowMs)]),
        and([eb("period_ends_ms", "<=", nowMs), eb("last_event_at_ms", "<=", ref("period_ends_ms"))]),
        and([
          eb("status", "in", ["past_due", "unpaid", "incomplete", "paused"]),
          eb("last_event_at_ms", "<=", nowMs - unpaidAgainAfterMs),
        ]),
        and([
          or([
            eb("status", "not in", ["canceled", "incomplete_expired", "gone"]),
            eb("period_ends_ms", ">", endedSinceMs),
            eb("ends_at_ms", ">", endedSinceMs),
          ]),
          unread(eb),
        ]),
      ]),
    )
    .orderBy("last_event_at_ms", (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();
  const paid = await selectBegun(db)
    .where("kind", "in", ["credits", "top-up"])
    .where("state", "=", "fulfilled")
    .where("created_at_ms", ">", endedSinceMs)
    .where(unread)
    .orderBy("last_event_at_ms", (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();
  return [...(await unsettled(db, nowMs).execute()), ...subscriptions, ...paid];
}
