import type { Stripe } from "stripe";
import { type CheckResult, fault, fine } from "@/lib/admin/check-result";
import { checkClock } from "@/lib/admin/store-check";
import { findMissingPermissions } from "@/lib/admin/stripe-permissions";
import { listUnclaimed } from "@/lib/billing/customer/unclaimed-purchases";
import { purchaseEvents } from "@/lib/billing/fulfilment/events";
import { creditsOf, hasValidLimit } from "@/lib/billing/prices/prices";
import { callStripe, findAtStripe } from "@/lib/billing/stripe/calls";
import { dayMs } from "@/lib/config/durations";
import { type BillingSettings, settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { hooks } from "@/lib/http/register/hooks";
import { listSold } from "@/lib/plans/plan-prices";

const tolerantForMs = 7 * dayMs; // after the grace

/** Checks what billing needs at Stripe, and what Stripe has told us of subscriptions. */
export async function checkBilling(billing: BillingSettings): Promise<CheckResult> {
  const { creditPrices, hasTax, graceDays } = billing;
  const licencePrices = (await listSold(await store())).map(({ id }) => id);
  const problems: { what: string; remedy: string }[] = [];
  const see = (what: string | undefined, remedy: string) => {
    if (what) problems.push({ what, remedy });
  };
  const missing = await findMissingPermissions(hasTax);
  if (missing.length > 0)
    return fault(
      `the restricted key lacks ${missing.join(", ")}`,
      "Give it these permissions in Stripe's dashboard under Developers, API keys.",
    );
  for (const id of [...licencePrices, ...creditPrices]) {
    const price = await findAtStripe((stripe) => stripe.prices.retrieve(id));
    const complaint = complainOfPrice(price, licencePrices.includes(id));
    see(
      complaint && `${id} ${complaint}`,
      "Correct these prices at Stripe, in 'plan set' or in STRIPE_CREDIT_PRICES.",
    );
  }
  const { data, lastResponse } = await callStripe((stripe) => stripe.webhookEndpoints.list({ limit: 100 }));
  see(
    checkClock("Stripe", Date.parse(lastResponse.headers.date ?? ""))?.detail,
    "Set this machine's clock by NTP: deliveries five minutes off are refused.",
  );
  const url = `${settings().appUrl}${hooks.stripe.path}`;
  const complaint = complainOfEndpoint(data.find((endpoint) => endpoint.url === url));
  see(
    complaint && `the webhook endpoint ${url} ${complaint}`,
    `Have Stripe deliver these events to it: ${Object.keys(purchaseEvents).join(", ")}.`,
  );
  const portals = await callStripe((stripe) =>
    stripe.billingPortal.configurations.list({ active: true, is_default: true, limit: 1 }),
  );
  see(
    portals.data.length === 0 ? "the billing portal has no default configuration" : undefined,
    "Save one in Stripe's dashboard under Settings, Billing, Customer portal.",
  );
  const tax = hasTax && (await callStripe((stripe) => stripe.tax.settings.retrieve()));
  see(
    tax && tax.status !== "active" ? `Stripe Tax is ${tax.status}` : undefined,
    "Complete Stripe Tax in the dashboard, or unset STRIPE_TAX.",
  );
  const lateMs = Date.now() - graceDays * dayMs - tolerantForMs;
  const subscriptions = (await store()).selectFrom("billing_subscriptions").select("status");
  const gone = (await subscriptions.where("status", "=", "gone").execute()).length;
  const pastDue = subscriptions.where("status", "=", "past_due").where("unpaid_since_ms", "<", lateMs);
  const late = (await pastDue.execute()).length;
  see(
    gone > 0 ? `Stripe no longer knows ${gone} of the subscriptions` : undefined,
    "Check that STRIPE_SECRET_KEY is of the account that sold them; otherwise their licences end.",
  );
  see(
    late > 0 ? `${late} subscriptions stay past due although their licences ended` : undefined,
    "Have Stripe cancel them: Settings, Billing, Subscriptions and emails, Manage failed payments.",
  );
  const retired = await subscriptions
    .select("price_id")
    .distinct()
    .where("licence_until_ms", ">", 0)
    .where("price_id", "not in", licencePrices)
    .execute();
  const ids = retired.map(({ price_id }) => price_id).join(", ");
  const stillPaid = ids && `; no longer sold, and still paid: ${ids}`;
  const unclaimed = await listUnclaimed(await store());
  see(
    unclaimed.length > 0
      ? `purchases for emails without an account: ${unclaimed.map(({ id, email }) => `${email} (${id})`).join(", ")}`
      : undefined,
    "Invite these emails, or add accounts with them, and what they paid is given within ten minutes; or refund it at Stripe.",
  );
  if (problems.length === 0)
    return fine(
      `Stripe has ${licencePrices.length + creditPrices.length} prices and the webhook endpoint${stillPaid}`,
    );
  const remedies = new Set(problems.map(({ remedy }) => remedy));
  return fault(`${problems.map(({ what }) => what).join("; ")}${stillPaid}`, [...remedies].join(" "));
}

function complainOfPrice(price: Stripe.Price | undefined, isLicence: boolean): string | undefined {
  if (!price) return "does not exist in this Stripe account";
  if (!price.active) return "is archived";
  if (isLicence && price.type !== "recurring") return "is not recurring";
  if (isLicence) return hasValidLimit(price) ? undefined : "has no whole number as metadata assistant_limit";
  if (price.type !== "one_time") return "is not for one time";
  return creditsOf(price) ? undefined : "has no whole number as metadata credits";
}

function complainOfEndpoint(endpoint: Stripe.WebhookEndpoint | undefined): string | undefined {
  if (!endpoint) return "does not exist";
  if (endpoint.status !== "enabled") return "is disabled";
  const missing = Object.keys(purchaseEvents).filter(
    (event) => ![event, "*"].some((name) => endpoint.enabled_events.includes(name)),
  );
  return missing.length > 0 ? `lacks ${missing.join(", ")}` : undefined;
}
