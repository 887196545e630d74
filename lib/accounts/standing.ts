import type { Account } from "@/lib/accounts/account";
import type { Identified } from "@/lib/accounts/caller";
import {
  adviceOn,
  type DeniedStatus,
  decideEntitlement,
  type EntitlementAllowed,
} from "@/lib/accounts/entitlement";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { Tables } from "@/lib/db/tables";
import { pages } from "@/lib/http/pages";
import type { LightColour } from "@/lib/status/parts";

/** A licence from Stripe, as it was last read. */
export type Licence = Pick<
  Tables["billing_subscriptions"],
  "status" | "ends_at_ms" | "period_ends_ms" | "licence_until_ms"
>;

/** The decision of `GET /api/entitlement` for an account, worded for its owner. */
export type Standing = {
  status: EntitlementAllowed["status"] | Exclude<DeniedStatus, "signed-out">;
  mayRun: boolean;
  /** A status light, and its label. It is never `good` while something is due. */
  light: [colour: LightColour, label: string];
  /** The plan, or what is the matter with it. */
  tag: string;
  heading: string;
  /** What to do next; after a refusal, the hint that an app gets with it. */
  next: string;
  /** The page on which to do it. */
  step?: { words: string; path: string };
  checkAgainAfterSeconds: number;
};

type Words = Pick<Standing, "tag" | "heading" | "next" | "step">;

/** A refusal may end at any moment, so the page checks sooner than an app would. */
const checkRefusalAgainSeconds = 10;

/** What an account may do, and how that is said. */
export function describeStanding(
  caller: Exclude<Identified, { is: "signed-out" }>,
  nowMs: number,
  licence?: Licence,
): Standing {
  const decided = decideEntitlement(caller, nowMs);
  const status = decided.status as Standing["status"];
  const account = caller.is === "account" ? caller.account : undefined;
  return {
    status,
    mayRun: decided.ok,
    light: lightOf(decided, account, licence, nowMs),
    ...wordsOf(status, licence && licenceStateOf(licence)),
    checkAgainAfterSeconds: decided.ok ? decided.recheckAfterSeconds : checkRefusalAgainSeconds,
  };
}

/** How a licence from Stripe goes on. Without a payment, a past due one ends, and an unpaid one has ended. */
export function licenceStateOf({ status, ends_at_ms, licence_until_ms }: Licence) {
  const runs = licence_until_ms > 0;
  if (["past_due", "unpaid", "incomplete", "paused"].includes(status)) return runs ? "past due" : "unpaid";
  if (!runs) return "ended";
  return ends_at_ms === null ? "renews" : "cancelled";
}

/** The subscriptions that have not ended at Stripe: next to them, none is sold. */
export const liveOf = <Row extends Licence>(subscriptions: Row[]) =>
  subscriptions.filter(({ status }) => !["canceled", "incomplete_expired", "gone"].includes(status));

/** The licence that counts: the one that runs longest, of those that have not ended if there are any. */
export function currentLicence<Row extends Licence>(subscriptions: Row[]): Row | undefined {
  const longest = subscriptions.toSorted((one, other) => other.licence_until_ms - one.licence_until_ms);
  return liveOf(longest)[0] ?? longest[0];
}

/** Whether less than three days are left. */
export function endsSoon(endsAtMs: number, nowMs: number): boolean {
  return endsAtMs - nowMs < 3 * dayMs;
}

function lightOf(
  { ok, status }: { ok: boolean; status: string },
  account: Account | undefined,
  licence: Licence | undefined,
  nowMs: number,
): Standing["light"] {
  if (status === "unavailable") return ["unknown", "Unknown"];
  if (!ok) return ["stopped", "Stopped"];
  const state = licence && licenceStateOf(licence);
  if (isDue(state)) return ["soon", "Payment due"];
  const endsAtMs = account?.plan === "trial" ? account.trialEndsAtMs : licence?.ends_at_ms;
  const ends = state === "cancelled" || account?.plan === "trial";
  return ends && endsAtMs != null && endsSoon(endsAtMs, nowMs) ? ["soon", "Ends soon"] : ["good", "Runs"];
}

const runs = "Your company may run";
const choose = () => settings().billing && { step: { words: "Choose a licence", path: pages.billing.path } };

type LicenceState = ReturnType<typeof licenceStateOf> | undefined;

const isDue = (licence: LicenceState) => licence === "past due" || licence === "unpaid";

function wordsOf(status: Standing["status"], licence: LicenceState): Words {
  const pay = { words: "Pay it", path: pages.billing.path };
  if (isDue(licence) && status !== "trial-ended") {
    const next = "Your last payment failed. Pay it, or change the card, so that your company keeps running.";
    return { tag: "Past due", heading: runs, next, step: pay };
  }
  switch (status) {
    case "licensed":
      return licence === "cancelled"
        ? {
            tag: "Cancelled",
            heading: runs,
            next: "You cancelled your licence, and can take that back.",
            step: { words: "Keep the licence", path: pages.billing.path },
          }
        : {
            tag: "Licensed",
            heading: runs,
            next: "You have a licence. Open your apps: your assistants are ready for work.",
          };
    case "trial":
      return {
        tag: "Trial",
        heading: runs,
        next: settings().billing
          ? "You are on a trial. Choose a licence before it ends."
          : "You are on a trial. Contact us to choose a plan before it ends.",
        ...choose(),
      };
    case "hobby":
      return {
        tag: "Hobby",
        heading: runs,
        next: "You are on the free hobby plan. It does not end; a licence lets you hire more assistants.",
        ...choose(),
      };
    case "trial-ended":
      return {
        tag: "Trial ended",
        heading: "Your trial has ended",
        next: adviceOn(status),
        ...(isDue(licence) ? { step: pay } : choose()),
      };
    case "invalid":
      return { tag: "Account not readable", heading: "We cannot read your account", next: adviceOn(status) };
    case "unconfigured":
      return { tag: "Not set up", heading: "Sign-in is not set up", next: adviceOn(status) };
    case "unavailable":
      return {
        tag: "Not checked",
        heading: "We cannot check your account at the moment",
        next: "You are signed in, and nothing is lost. Try again in a moment.",
      };
  }
}
