import type { z } from "zod";
import type { ErrorCode } from "@/lib/http/errors";
import type { operations } from "@/lib/http/register/operations";
import { jitter } from "@/lib/runtime/jitter";

export type EntitlementAllowed = z.infer<typeof operations.entitlement.answer>;
export type DeniedStatus = z.infer<typeof operations.entitlement.denial>["status"];

/** When an app asks again: 10 to 15 minutes after a yes. */
export const recheckAfterSeconds = { min: 10 * 60, max: 15 * 60 };

/** The decision for an account, without what its plan contains. */
export type Entitlement =
  | Pick<EntitlementAllowed, "ok" | "status" | "trialEndsAt" | "recheckAfterSeconds">
  | { ok: false; status: DeniedStatus; trialEndsAt?: undefined };

/** What a decision needs of an account. */
export type Decided = {
  trial_ends_at_ms: number | null;
  given_ends_at_ms: number | null;
  given_after: string | null;
} & ({ plan: Exclude<EntitlementAllowed["status"], "trial"> } | { plan: "trial"; trial_ends_at_ms: number });

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
  const changesMs = account.given_ends_at_ms ?? Number.POSITIVE_INFINITY;
  const until = (endMs: number) => ({
    recheckAfterSeconds: Math.max(1, Math.min(askAgainSeconds, Math.floor((endMs - nowMs) / 1000))),
  });
  if (account.plan !== "trial") return { ok: true, status: account.plan, ...until(changesMs) };
  const { trial_ends_at_ms } = account;
  if (trial_ends_at_ms <= nowMs) return { ok: false, status: "trial-ended" };
  return {
    ok: true,
    status: "trial",
    trialEndsAt: new Date(trial_ends_at_ms).toISOString(),
    ...until(Math.min(trial_ends_at_ms, changesMs)),
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
