import type { z } from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { spendable, toCredits } from "@/lib/accounts/ledger";
import { challenge } from "@/lib/auth/tokens/credential";
import { ApiError, errorCatalogue } from "@/lib/http/errors";
import { retryAfterOutage } from "@/lib/http/retry-after";
import type { creditsBalance } from "@/lib/http/schemas";

/**
 * Returns the caller's balance. Throws an {@link ApiError}: 401 if they are signed out, else 503, because signing in again
 * would not help.
 */
export function readBalance(caller: Caller): z.infer<typeof creditsBalance> {
  switch (caller.is) {
    case "account":
      return { credits: toCredits(spendable(caller.account)) };
    case "signed-out":
      throw new ApiError("signed_out", { headers: challenge(caller) });
    case "unavailable":
      throw new ApiError("balance_unavailable", { headers: retryAfterOutage() });
    case "unreadable":
      throw new ApiError("balance_unavailable", { hint: errorCatalogue.forbidden.hint });
    case "unconfigured":
      throw new ApiError("balance_unavailable", { hint: errorCatalogue.not_configured.hint });
  }
}
