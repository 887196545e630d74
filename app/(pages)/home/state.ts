import type { Caller } from "@/lib/accounts/caller";
import {
  type DeniedStatus,
  decideEntitlement,
  denialCodes,
  type EntitlementAllowed,
} from "@/lib/accounts/entitlement";
import { errorCatalogue } from "@/lib/http/errors";

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
export function decideHomeState(caller: Exclude<Caller, { is: "signed-out" }>, nowMs: number): HomeState {
  const decided = decideEntitlement(caller, nowMs);
  const status = decided.status as HomeStatus;
  const checkAgainAfterSeconds = decided.ok ? decided.recheckAfterSeconds : lookAgainAfterSeconds;
  return { status, mayRun: decided.ok, ...words[status], checkAgainAfterSeconds };
}

/** A refusal may end at any moment, so the page checks sooner than an app would. */
const lookAgainAfterSeconds = 10;

/** The hint that an app gets with the same refusal. */
const adviceOn = (status: DeniedStatus) => errorCatalogue[denialCodes[status]].hint;

const words: Record<HomeStatus, Pick<HomeState, "heading" | "next">> = {
  licensed: {
    heading: "Your company may run",
    next: "You have a licence. Open your apps: your assistants are ready for work.",
  },
  trial: {
    heading: "Your company may run",
    next: "You are on a trial. Contact us to choose a plan before it ends.",
  },
  hobby: {
    heading: "Your company may run",
    next: "You are on the free hobby plan. It does not end; a licence lets you hire more assistants.",
  },
  "trial-ended": {
    heading: "Your trial has ended",
    next: adviceOn("trial-ended"),
  },
  invalid: {
    heading: "We cannot read your account",
    next: adviceOn("invalid"),
  },
  unavailable: {
    heading: "We cannot check your account at the moment",
    next: "You are signed in, and nothing is lost. Try again in a moment.",
  },
  unconfigured: {
    heading: "Sign-in is not set up",
    next: adviceOn("unconfigured"),
  },
};
