import type { Caller } from "@/lib/accounts/caller";
import { type DeniedStatus, decideEntitlement, type EntitlementAllowed } from "@/lib/accounts/entitlement";
import { ApiError } from "@/lib/api/errors";

/** What the CEO is told: may the company run, why not, and what to do next. */
export type HomeState = {
  status: EntitlementAllowed["status"] | DeniedStatus;
  mayRun: boolean;
  heading: string;
  next: string;
  checkAgainAfterSeconds: number;
};

/** The same decision that the apps get from `GET /api/entitlement`, in plain words. */
export function decideHomeState(caller: Exclude<Caller, { is: "signed-out" }>, nowMs: number): HomeState {
  switch (caller.is) {
    case "account":
      return decideForAccount(caller.account, nowMs);
    case "unreadable":
      return {
        status: "invalid",
        mayRun: false,
        heading: "We cannot read your account",
        next: "If you have just accepted an invitation, wait a moment: this page looks again by itself. Otherwise ask whoever invited you to check your account.",
        checkAgainAfterSeconds: 10,
      };
    case "unavailable":
      return {
        status: "unavailable",
        mayRun: false,
        heading: "We cannot check your account at the moment",
        next: "You are signed in, and nothing is lost. This page tries again by itself in a few seconds.",
        checkAgainAfterSeconds: caller.retryAfterSeconds,
      };
    case "unconfigured":
      return {
        status: "unconfigured",
        mayRun: false,
        heading: "Sign-in is not set up",
        next: "Whoever operates this service sets up Clerk, or local sign-in, in its settings.",
        checkAgainAfterSeconds: 900,
      };
  }
}

function decideForAccount(account: Parameters<typeof decideEntitlement>[0], nowMs: number): HomeState {
  try {
    const { status, recheckAfterSeconds } = decideEntitlement(account, nowMs);
    return { status, mayRun: true, ...allowed[status], checkAgainAfterSeconds: recheckAfterSeconds };
  } catch (denial) {
    if (!(denial instanceof ApiError)) throw denial;
    return {
      status: "trial-ended",
      mayRun: false,
      heading: "Your trial has ended",
      next: "Your assistants wait, and nothing of theirs is lost. Ask whoever invited you for a plan; they run again as soon as you have one.",
      checkAgainAfterSeconds: 60,
    };
  }
}

const allowed: Record<EntitlementAllowed["status"], Pick<HomeState, "heading" | "next">> = {
  licensed: {
    heading: "Your company may run",
    next: "You have a licence. Open your apps: your assistants are ready for work.",
  },
  trial: {
    heading: "Your company may run",
    next: "You are on a trial. When you know that you want to stay, ask whoever invited you for a plan before it ends.",
  },
  hobby: {
    heading: "Your company may run",
    next: "You are on the free hobby plan. It does not end; a licence lets you hire more assistants.",
  },
};
