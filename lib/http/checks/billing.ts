import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";

/** Refuses what is sold where nothing is. */
export function requireBilling(): void {
  if (!settings().billing) throw new ApiError("billing_not_configured");
}
