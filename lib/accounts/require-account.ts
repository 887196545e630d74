import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { challenge, hintOfProof } from "@/lib/auth/tokens/credential";
import type { CheckOptions } from "@/lib/http/checks/check";
import { ApiError, type ErrorCode, errorCatalogue, retryAfterOutage } from "@/lib/http/errors";

/** What the handler of an operation checks that needs a session. */
export const byToken: CheckOptions<Caller> = { identify: (call) => identifyCaller(call, "api") };

/**
 * The account that an operation is about. Throws an {@link ApiError}: 401 if the caller is signed out, else this code, a
 * 503, because signing in again would not help.
 */
export function requireAccount(caller: Caller, unavailable: ErrorCode) {
  switch (caller.is) {
    case "account":
      return caller.account;
    case "signed-out":
      throw new ApiError("signed_out", { headers: challenge(caller), hint: hintOfProof(caller) });
    case "unavailable":
      throw new ApiError(unavailable, { headers: retryAfterOutage() });
    case "unreadable":
      throw new ApiError(unavailable, { hint: errorCatalogue.forbidden.hint });
    case "unconfigured":
      throw new ApiError(unavailable, { hint: errorCatalogue.not_configured.hint });
  }
}
