import type { z } from "zod";
import type { ErrorCode } from "@/lib/http/errors";
import type { entitlementAllowed, entitlementDenied } from "@/lib/http/schemas";
import { jitter } from "@/lib/runtime/jitter";

export type EntitlementAllowed = z.infer<typeof entitlementAllowed>;
export type DeniedStatus = z.infer<typeof entitlementDenied>["status"];

const recheckAfterSeconds = { min: 10 * 60, max: 15 * 60 }; // 10 to 15 minutes

/** The decision for an account, without what its plan contains. */
export type Entitlement =
  | Pick<EntitlementAllowed, "ok" | "status" | "trialEndsAt" | "recheckAfterSeconds">
  | { ok: false; status: DeniedStatus; trialEndsAt?: undefined };

/** What a decision needs of an account. */
export type Decided = { trial_ends_at_ms: number | null } & (
  | { plan: Exclude<EntitlementAllowed["status"], "trial"> }
  | { plan: "trial"; trial_ends_at_ms: number }
);

/** Who asks: an account, or why there is none. */
export type Asker = { is: "account"; account: Decided } | NoAccount;
type NoAccount = { is: "unreadable" | Exclude<DeniedStatus, "trial-ended" | "invalid"> };

/** Why a caller without an account may not run. */
export const statusOf = (caller: NoAccount): DeniedStatus =>
  caller.is === "unreadable" ? "invalid" : caller.is;

/**
 * Decides whether an account may run at `nowMs`. A trial has ended at the very millisecond of its end.
 *
 * @param chance - spreads the times at which clients check again; at least 0 and less than 1
 */
export function decideEntitlement(account: Decided, nowMs: number, chance = Math.random()): Entitlement {
  const askAgainSeconds = jitter(recheckAfterSeconds.min, recheckAfterSeconds.max, chance);
  if (account.plan !== "trial")
    return { ok: true, status: account.plan, recheckAfterSeconds: askAgainSeconds };
  const leftMs = account.trial_ends_at_ms - nowMs;
  if (leftMs <= 0) return { ok: false, status: "trial-ended" };
  return {
    ok: true,
    status: "trial",
    trialEndsAt: new Date(account.trial_ends_at_ms).toISOString(),
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
} as const satisfies Record<DeniedStatus, ErrorCode>;
