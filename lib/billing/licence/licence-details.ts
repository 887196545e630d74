import type { Stripe } from "stripe";
import { type Card, toCard } from "@/lib/billing/customer/card";
import { callStripe, idOf } from "@/lib/billing/stripe/calls";
import { KeptReadings, readForPage } from "@/lib/billing/stripe/kept-readings";
import type { Tables } from "@/lib/db/tables";
import { perProcess } from "@/lib/per-process";
import { log } from "@/lib/runtime/log";

const keptMs = 60 * 1000; // 1 minute: what was changed in the portal shows soon

/**
 * What a page says of a licence that the store does not have: the card that Stripe charges for it, if it is one, and the
 * currency, if it is not the price's (https://docs.stripe.com/payments/currencies/localize-prices/adaptive-pricing); the price
 * that it is to have from a day on, as a downgrade in the portal makes it wait for; from when on it will be paused, which
 * owners may plan there too; and whether the portal may give it another price.
 */
export type LicenceDetails = {
  card: Card | undefined;
  paidIn: string | undefined;
  scheduled: { priceId: string; atMs: number } | undefined;
  pause: { atMs: number; resumesAtMs: number | undefined } | undefined;
  isChangeable: boolean;
};

const kept = perProcess("details of licences", () => new KeptReadings<LicenceDetails>(keptMs));

/** Reads the details of a licence for a page; `undefined` if Stripe is late. */
export function readDetailsOf(
  { id, price_id }: Tables["billing_subscriptions"],
  nowMs: number,
): Promise<LicenceDetails | undefined> {
  const expand = ["default_payment_method", "customer.invoice_settings.default_payment_method"];
  return readForPage(
    kept().read(id, nowMs, async () => {
      const found = await callStripe((stripe) => stripe.subscriptions.retrieve(id, { expand }));
      const { customer, default_payment_method: own, schedule, items } = found;
      const hasDefault = typeof customer === "object" && !customer.deleted;
      const planned = schedule ? await readSchedule(idOf(schedule)) : undefined;
      const later = planned ? laterPhases(planned, nowMs) : [];
      const scheduled = later.find(({ priceId }) => priceId !== price_id);
      return {
        card:
          toCard(own) ?? (hasDefault ? toCard(customer.invoice_settings?.default_payment_method) : undefined),
        paidIn: found.presentment_details?.presentment_currency,
        scheduled,
        pause: planned && findPause(planned, nowMs),
        isChangeable: later.length === 0 && items.data.length === 1,
      };
    }),
  );
}

/** The schedule of a subscription; `undefined` if a restricted key may not read it. */
async function readSchedule(schedule: string): Promise<Stripe.SubscriptionSchedule | undefined> {
  const read = callStripe((stripe) => stripe.subscriptionSchedules.retrieve(schedule));
  const found = await read.catch((failure) =>
    log().warn({ err: failure, schedule }, "what a subscription changes to could not be read"),
  );
  return found ?? undefined;
}

/** The later phases of a schedule: the price that each begins with. */
const laterPhases = ({ phases }: Stripe.SubscriptionSchedule, nowMs: number) =>
  phases.flatMap(({ start_date, items: [item] }) =>
    item && start_date * 1000 > nowMs ? { priceId: idOf(item.price), atMs: start_date * 1000 } : [],
  );

/** The next pause of a schedule (https://docs.stripe.com/billing/subscriptions/pause/schedules). */
const findPause = ({ pause_schedules }: Stripe.SubscriptionSchedule, nowMs: number) =>
  pause_schedules
    .map(({ pause, resume }) => ({
      atMs: pause.pause_at * 1000,
      resumesAtMs: resume ? resume.resume_at * 1000 : undefined,
    }))
    .toSorted((one, other) => one.atMs - other.atMs)
    .find(({ atMs }) => atMs > nowMs);
