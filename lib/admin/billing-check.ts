import type { Stripe } from "stripe";
import { type CheckResult, fault, fine } from "@/lib/admin/check-result";
import { purchaseEvents } from "@/lib/billing/fulfilment";
import { creditsOf } from "@/lib/billing/prices";
import { findAtStripe, readAtStripe } from "@/lib/billing/stripe";
import type { BillingSettings } from "@/lib/config/billing-settings";
import { settings } from "@/lib/config/settings";
import { hooks } from "@/lib/http/pages";

/** Checks the prices and the webhook endpoint at Stripe. */
export async function checkBilling({ licencePrices, creditPrices }: BillingSettings): Promise<CheckResult> {
  const findings: string[] = [];
  for (const id of [...licencePrices, ...creditPrices]) {
    const price = await findAtStripe((stripe) => stripe.prices.retrieve(id));
    const complaint = complainOfPrice(price, licencePrices.includes(id));
    if (complaint) findings.push(`${id} ${complaint}`);
  }
  if (findings.length > 0) {
    return fault(
      findings.join("; "),
      "Correct these prices at Stripe, STRIPE_LICENCE_PRICES or STRIPE_CREDIT_PRICES.",
    );
  }
  const { data } = await readAtStripe((stripe) => stripe.webhookEndpoints.list({ limit: 100 }));
  const url = `${settings().appUrl}${hooks.stripe.path}`;
  const complaint = complainOfEndpoint(data.find((endpoint) => endpoint.url === url));
  return complaint
    ? fault(
        `the webhook endpoint ${url} ${complaint}`,
        `Have Stripe deliver these events to it: ${Object.keys(purchaseEvents).join(", ")}.`,
      )
    : fine(`Stripe has ${licencePrices.length + creditPrices.length} prices and the webhook endpoint`);
}

function complainOfPrice(price: Stripe.Price | undefined, isLicence: boolean): string | undefined {
  if (!price) return "does not exist in this Stripe account";
  if (!price.active) return "is archived";
  if (isLicence) return price.type === "recurring" ? undefined : "is not recurring";
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
