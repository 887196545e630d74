import { type BillingSettings, settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";

/** The settings of billing. Throws `billing_not_configured` where nothing is sold. */
export function requireBilling(): BillingSettings {
  const { billing } = settings();
  if (!billing) throw new ApiError("billing_not_configured");
  return billing;
}
