import type { AccountStatus } from "@/lib/accounts/account";
import { dayMs } from "@/lib/config/durations";
import { ApiError } from "@/lib/http/errors";

/** The length of a new account's trial, unless an operator gives another. */
export const defaultTrialDays = 14;

/** What an operator says about a trial, by the columns of an invitation. */
export type TrialTerms = {
  plan?: AccountStatus | undefined;
  trial_ends_at_ms?: number | null | undefined;
  /** Alternative to an end: the length of the trial, from the moment the terms take effect. */
  trial_days?: number | null | undefined;
};

/** Throws an {@link ApiError} when the terms contradict each other: only a trial has an end. */
export function validateTerms({ plan = "trial", ...terms }: TrialTerms): void {
  if (plan === "trial" || !hasEnd(terms)) return;
  throw new ApiError("invalid_request", {
    message: `A ${plan} account has no trial.`,
    hint: "Set the end of a trial only with '--plan trial'.",
  });
}

/** Whether terms give a trial an end. */
export const hasEnd = (terms: TrialTerms) => (terms.trial_ends_at_ms ?? terms.trial_days ?? null) !== null;

/** The days of the trial that terms give; `undefined` if they give none, or one with a date. */
export const trialDaysOf = ({ plan = "trial", trial_ends_at_ms, trial_days }: TrialTerms) =>
  plan === "trial" && !trial_ends_at_ms ? (trial_days ?? defaultTrialDays) : undefined;

/** The end that terms give a trial, in Unix milliseconds. */
export function trialEnd({ trial_ends_at_ms, trial_days }: TrialTerms, nowMs: number): number {
  return trial_ends_at_ms ?? nowMs + (trial_days ?? defaultTrialDays) * dayMs;
}
