import type { Identified } from "@/lib/accounts/caller";
import {
  adviceOn,
  type DeniedStatus,
  decideEntitlement,
  type EntitlementAllowed,
} from "@/lib/accounts/entitlement";
import { settings } from "@/lib/config/settings";

/** Whether the company may run, why not, and what to do next. */
export type HomeState = {
  status: HomeStatus;
  mayRun: boolean;
  heading: string;
  next: string;
  checkAgainAfterSeconds: number;
};

type HomeStatus = EntitlementAllowed["status"] | Exclude<DeniedStatus, "signed-out">;

/** The decision of `GET /api/entitlement`, worded for the CEO. */
export function decideHomeState(caller: Exclude<Identified, { is: "signed-out" }>, nowMs: number): HomeState {
  const decided = decideEntitlement(caller, nowMs);
  const status = decided.status as HomeStatus;
  const checkAgainAfterSeconds = decided.ok ? decided.recheckAfterSeconds : lookAgainAfterSeconds;
  return {
    status,
    mayRun: decided.ok,
    heading: headings[status],
    next: nextStep(status),
    checkAgainAfterSeconds,
  };
}

/** A refusal may end at any moment, so the page checks sooner than an app would. */
const lookAgainAfterSeconds = 10;

const runs = "Your company may run";

const headings: Record<HomeStatus, string> = {
  licensed: runs,
  trial: runs,
  hobby: runs,
  "trial-ended": "Your trial has ended",
  invalid: "We cannot read your account",
  unavailable: "We cannot check your account at the moment",
  unconfigured: "Sign-in is not set up",
};

/** What to do next; after a refusal, the hint that an app gets with it. */
function nextStep(status: HomeStatus): string {
  switch (status) {
    case "licensed":
      return "You have a licence. Open your apps: your assistants are ready for work.";
    case "trial":
      return settings().billing
        ? "You are on a trial. Choose a licence before it ends."
        : "You are on a trial. Contact us to choose a plan before it ends.";
    case "hobby":
      return "You are on the free hobby plan. It does not end; a licence lets you hire more assistants.";
    case "unavailable":
      return "You are signed in, and nothing is lost. Try again in a moment.";
    case "trial-ended":
      return settings().billing
        ? "Your assistants are paused, and nothing is lost. Choose a licence; they run again as soon as you have one."
        : adviceOn(status);
    default:
      return adviceOn(status);
  }
}
