import type { z } from "zod";
import type { ErrorCode } from "@/lib/http/errors";
import type { entitlementAllowed, entitlementDenied } from "@/lib/http/schemas";
import { jitter } from "@/lib/runtime/jitter";

export type EntitlementAllowed = z.infer<typeof entitlementAllowed>;
export type DeniedStatus = z.infer<typeof entitlementDenied>["status"];

const recheckAfterSeconds = { min: 10 * 60, max: 15 * 60 }; // 10 to 15 minutes

/** The decision for a caller: a value that a page shows in words, and the API as a status code. */
export type Entitlement = EntitlementAllowed | { ok: false; status: DeniedStatus };

type Plan = EntitlementAllowed["status"];

/** What a decision needs of an account, or why there is none. */
export type Asker =
  | { is: "account"; account: { assistant_limit: number | null; trial_ends_at_ms: number | null } & Trial }
  | { is: "unreadable" | Exclude<DeniedStatus, "trial-ended" | "invalid"> };

type Trial = { plan: Exclude<Plan, "trial"> } | { plan: "trial"; trial_ends_at_ms: number };

/**
 * Decides whether the caller may run at `nowMs`, and if not, why: of several reasons the one that was found first. A
 * trial has ended at the very millisecond of its end.
 *
 * @param chance - spreads the times at which clients check again; at least 0 and less than 1
 */
export function decideEntitlement(caller: Asker, nowMs: number, chance = Math.random()): Entitlement {
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
} as const satisfies Record<DeniedStatus, ErrorCode>;
