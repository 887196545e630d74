import type { z } from "zod";
import type { Account } from "@/lib/accounts/account";
import type { Caller } from "@/lib/accounts/caller";
import { readBilling } from "@/lib/accounts/purchases";
import { recordCheck } from "@/lib/auth/sessions/session-use";
import { challenge } from "@/lib/auth/tokens/credential";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { type AccountEnd, endWords } from "@/lib/http/entitlement-words";
import { ApiError, errorCatalogue, type PublicErrorCode } from "@/lib/http/errors";
import { currentLicence, endOf } from "@/lib/http/licence-state";
import { pages } from "@/lib/http/register/pages";
import type { entitlementAllowed, entitlementDenied } from "@/lib/http/schemas";
import { jitter } from "@/lib/runtime/jitter";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

export type EntitlementAllowed = z.infer<typeof entitlementAllowed>;
export type DeniedStatus = z.infer<typeof entitlementDenied>["status"];

const recheckAfterSeconds = { min: 10 * 60, max: 15 * 60 }; // 10 to 15 minutes

/** The decision for a caller: a value that a page shows in words, and the API as a status code. */
export type Entitlement = EntitlementAllowed | { ok: false; status: DeniedStatus };

/**
 * The caller's entitlement at `nowMs`, as the API returns it; what an app was told is recorded. If they may not run,
 * throws the EntitlementDenied error: an {@link ApiError} whose body has `ok`, `status` and `message` next to `error`.
 */
export async function readEntitlement(caller: Caller, nowMs: number): Promise<EntitlementAllowed> {
  const decided = decideEntitlement(caller, nowMs);
  if (caller.is === "account" && caller.session?.kind === "app")
    recordCheck(caller.session.sessionId, decided.status, nowMs);
  if (decided.ok) return decided;
  if (decided.status !== "trial-ended" || caller.is !== "account") throw denialOf(decided.status, caller);
  const end = await readEndInTime(caller.account);
  throw end ? denialOf("trial-ended", caller, endWords(end)) : denialOf("unavailable", caller);
}

/** What ended of an account; `undefined` if it cannot be read now. */
async function readEndInTime(account: Account): Promise<AccountEnd | undefined> {
  if (!settings().billing) return { what: "trial" };
  try {
    const { subscriptions } = await withTimeout(
      answersWithinMs.store,
      readBilling(await store(), account.id),
    );
    return endOf(account, currentLicence(subscriptions));
  } catch (failure) {
    log().error({ err: failure }, "the end of a licence could not be read");
    return undefined;
  }
}

function denialOf(status: DeniedStatus, caller: Caller, end?: ReturnType<typeof endWords>): ApiError {
  const code = denialCodes[status];
  const message = end?.message ?? errorCatalogue[code].message;
  return new ApiError(code, {
    ...(caller.is === "signed-out" && { headers: { "www-authenticate": challenge(caller.tokenWasSent) } }),
    ...(end && { message, hint: end.hint(` at ${settings().appUrl}${pages.billing.path}`) }),
    extraFields: { ok: false, status, message },
  });
}

/**
 * Decides whether the caller may run at `nowMs`, and if not, why: of several reasons the one that `caller.ts` found. A
 * trial has ended at the very millisecond of its end.
 *
 * @param chance - spreads the times at which clients check again; at least 0 and less than 1
 */
export function decideEntitlement(caller: Caller, nowMs: number, chance = Math.random()): Entitlement {
  if (caller.is !== "account")
    return { ok: false, status: caller.is === "unreadable" ? "invalid" : caller.is };
  const { account } = caller;
  const assistants = account.assistant_limit === null ? {} : { assistantLimit: account.assistant_limit };
  const askAgainSeconds = jitter(recheckAfterSeconds.min, recheckAfterSeconds.max, chance);
  if (account.plan !== "trial") {
    return { ok: true, status: account.plan, ...assistants, recheckAfterSeconds: askAgainSeconds };
  }
  const leftMs = account.trial_ends_at_ms - nowMs;
  if (leftMs <= 0) return { ok: false, status: "trial-ended" };
  return {
    ok: true,
    status: "trial",
    trialEndsAt: new Date(account.trial_ends_at_ms).toISOString(),
    ...assistants,
    recheckAfterSeconds: Math.max(1, Math.min(askAgainSeconds, Math.floor(leftMs / 1000))),
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
