import type { z } from "zod";
import type { Account } from "@/lib/accounts/accounts";
import type { Caller } from "@/lib/accounts/caller";
import { ApiError, errorCatalogue, type PublicErrorCode } from "@/lib/api/errors";
import type { entitlementAllowed, entitlementDenied } from "@/lib/api/schemas";
import { challenge } from "@/lib/session/session";

export type EntitlementAllowed = z.infer<typeof entitlementAllowed>;
export type DeniedStatus = z.infer<typeof entitlementDenied>["status"];

const recheckAfterSeconds = 15 * 60; // 15 minutes

/** Whether the caller may run at `nowMs`. Throws the denial where they may not. */
export function readEntitlement(caller: Caller, nowMs: number): EntitlementAllowed {
  switch (caller.is) {
    case "account":
      return decideEntitlement(caller.account, nowMs);
    case "unreadable":
      throw denial("invalid");
    case "signed-out":
      throw denial("signed-out", { "www-authenticate": challenge(caller.tokenWasSent) });
    case "unconfigured":
      throw denial("unconfigured");
    case "unavailable":
      throw denial("unavailable", { "retry-after": String(caller.retryAfterSeconds) });
  }
}

/** Whether an account may run at `nowMs`. Throws the denial when its trial is over, from its very end on. */
export function decideEntitlement(account: Account, nowMs: number): EntitlementAllowed {
  const assistants = account.assistantLimit === null ? {} : { assistantLimit: account.assistantLimit };
  if (account.plan !== "trial") return { ok: true, status: account.plan, ...assistants, recheckAfterSeconds };
  const leftMs = account.trialEndsAtMs - nowMs;
  if (leftMs <= 0) throw denial("trial-ended");
  return {
    ok: true,
    status: "trial",
    trialEndsAt: new Date(account.trialEndsAtMs).toISOString(),
    ...assistants,
    recheckAfterSeconds: Math.max(1, Math.min(recheckAfterSeconds, Math.floor(leftMs / 1000))),
  };
}

/** The `error.code` of each denial. */
export const denialCodes = {
  "signed-out": "signed_out",
  "trial-ended": "trial_ended",
  invalid: "forbidden",
  unconfigured: "not_configured",
  unavailable: "unavailable",
} as const satisfies Record<DeniedStatus, PublicErrorCode>;

/** An EntitlementDenied, to be thrown: an ApiError whose body has `ok`, `status` and `message` beside `error`. */
export function denial(status: DeniedStatus, headers: Record<string, string> = {}): ApiError {
  const { message } = errorCatalogue[denialCodes[status]];
  return new ApiError(denialCodes[status], { headers, beside: { ok: false, status, message } });
}
