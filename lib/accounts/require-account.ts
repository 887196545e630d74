import type { Account } from "@/lib/accounts/account";
import type { Caller } from "@/lib/accounts/caller";
import { challenge } from "@/lib/auth/credential";
import { ApiError, errorCatalogue, type PublicErrorCode } from "@/lib/http/errors";
import { retryAfterOutage } from "@/lib/runtime/jitter";

/**
 * The account of the caller of an account operation. Without one, throws the {@link ApiError} that the operation answers:
 * 401 if they are signed out, else its 503, because signing in again would not help.
 *
 * @param code - of the 503
 */
export function requireAccount(caller: Caller, code: PublicErrorCode): Account {
  switch (caller.is) {
    case "account":
      return caller.account;
    case "signed-out":
      throw new ApiError("signed_out", { headers: { "www-authenticate": challenge(caller.tokenWasSent) } });
    case "unavailable":
      throw new ApiError(code, { headers: retryAfterOutage() });
    case "unreadable":
      throw new ApiError(code, { hint: errorCatalogue.forbidden.hint });
    case "unconfigured":
      throw new ApiError(code, { hint: errorCatalogue.not_configured.hint });
  }
}
