import { dayMs } from "@/lib/config/durations";
import type { LightColour } from "@/lib/config/theme";
import {
  type Asker,
  type Decided,
  decideEntitlement,
  type Entitlement,
  statusOf,
} from "@/lib/plans/entitlement";
import { isDue, type Status, withSum, wordsOf } from "@/lib/plans/entitlement-words";
import {
  type Due,
  describeDue,
  endOf,
  isBesideGift,
  type Licence,
  licenceStateOf,
  paymentDay,
} from "@/lib/plans/licence-state";
import { readAfter } from "@/lib/plans/terms";

/** The decision of `GET /api/entitlement` for an account, worded for its owner. */
export type Standing = ReturnType<typeof describeStanding>;

/** A refusal may end at any moment, so the page checks sooner than an app would. */
const checkRefusalAgainSeconds = 10;

/** What an account may do, and how that is said, by days of `zone` or of UTC. */
export function describeStanding(
  caller: Exclude<Asker, { is: "signed-out" }>,
  licence: (Licence & Due) | undefined,
  nowMs: number,
  zone?: string | null,
) {
  const decided: Entitlement =
    caller.is === "account"
      ? decideEntitlement(caller.account, nowMs)
      : { ok: false, status: statusOf(caller) };
  const status = decided.status as Status;
  const account = caller.is === "account" ? caller.account : undefined;
  const { step, ...words } = wordsOf({
    status,
    licence: licence && licenceStateOf(licence),
    end: endOf(account, licence),
    untilMs: account ? dayThatCounts(account, licence, nowMs) : null,
    nowMs,
    zone,
  });
  return {
    status,
    mayRun: decided.ok,
    light: lightOf(decided, licence, account && givenEnd(account), nowMs),
    ...words,
    step: step && { ...step, words: withSum(step.words, licence && describeDue(licence)) },
    checkAgainAfterSeconds: decided.ok ? decided.recheckAfterSeconds : checkRefusalAgainSeconds,
  };
}

/** What an account may do that was read, or `undefined` for a record that cannot be. */
export const standingOf = (account: Decided | undefined, licence: Licence | undefined, nowMs: number) =>
  describeStanding(account ? { is: "account", account } : { is: "unreadable" }, licence, nowMs);

/** When a licence ends that an operator gives, if no other follows. */
const givenEnd = (account: Decided) =>
  account.plan === "licensed" && readAfter(account)?.has.plan !== "licensed"
    ? account.given_ends_at_ms
    : null;

/** In the last days of a trial, a licence is its owner's next step. */
export const asksForLicenceMs = 4 * dayMs;

/** By when a licence is to be paid, or on which day it or what else the account has ends; null if none is near. */
function dayThatCounts(account: Decided, licence: Licence | undefined, nowMs: number): number | null {
  const runs = licence && licence.licence_until_ms > 0 && !isBesideGift(licence);
  if (runs) return paymentDay(licence);
  if (account.plan !== "trial") return givenEnd(account);
  return account.trial_ends_at_ms - nowMs <= asksForLicenceMs ? account.trial_ends_at_ms : null;
}

const soonMs = 3 * dayMs;

/** A status light, and its label. It is never `good` while something is due. */
type Light = [colour: LightColour, label: string];

function lightOf(
  decided: Entitlement,
  licence: Licence | undefined,
  givenEndMs: number | null | undefined,
  nowMs: number,
): Light {
  if (decided.status === "unavailable") return ["unknown", "Unknown"];
  if (!decided.ok) return ["stopped", "Stopped"];
  const state = licence && licenceStateOf(licence);
  if (state && (isDue(state) || (state === "unpaid" && decided.status !== "licensed")))
    return ["soon", "Payment due"];
  const hasEnd = state !== undefined && ["cancelled", "pausing", "unknown"].includes(state);
  const endsAtMs = hasEnd ? licence?.ends_at_ms : givenEndMs;
  const leftMs = (decided.trialEndsAt ? Date.parse(decided.trialEndsAt) : (endsAtMs ?? Infinity)) - nowMs;
  if (leftMs < soonMs) return ["soon", "Ends soon"];
  return hasEnd ? ["soon", state === "pausing" ? "Pauses" : "Ends"] : ["good", "Active"];
}
