import type { AccountStatus } from "@/lib/accounts/account";
import { hasEnd, type TrialTerms, trialEnd, validateTerms } from "@/lib/accounts/terms/trial";
import { ApiError } from "@/lib/http/errors";
import { maxContents, ownLimitsOf } from "@/lib/plans/plan";
import { differs, endedTerms, type Gift, type Given, lapsedTerms } from "@/lib/plans/terms";

/**
 * The terms that an operator sets, by the columns of an invitation. An omitted one stays unchanged, or gets the default for
 * a new account, and so does null but for the limit.
 */
export type AccountTerms = TrialTerms & {
  assistant_limit?: number | null | undefined;
  credit_thousandths?: number | null | undefined;
  subject?: string | undefined;
  /** The plan of a licence; `licensed` without one. */
  given_plan?: string | null | undefined;
  /** All features that the account has beyond its plan. */
  own_features?: string[] | undefined;
  /** Limits in place of its plan's, null for none; `plan` for those of the plan again. */
  own_limits?: Record<string, number | null | "plan"> | undefined;
  /** When what the other terms give ends, or all that is given if they give nothing; null if it has no end. */
  given_ends_at_ms?: number | null | undefined;
  /** The operator's own name for the account, which no other has; null takes it away. */
  reference?: string | null | undefined;
};

/** What a new account is given without terms that give something, and after their end. */
export function newTerms({ plan, trial_ends_at_ms, trial_days }: AccountTerms, nowMs: number): Given {
  const isHobby = plan === "hobby";
  return {
    plan: isHobby ? plan : "trial",
    trial_ends_at_ms: isHobby ? null : trialEnd({ trial_ends_at_ms, trial_days }, nowMs),
    given_plan: null,
    paid_plan: null,
    assistant_limit: null,
    own_features: null,
    own_limits: null,
  };
}

/**
 * Changes what an operator gives. What terms with an end give lasts until then, and what was given before comes back; without
 * an end it is for good. Throws an {@link ApiError} for an end of nothing, and for one that has come.
 */
export function changeGift({ given, end }: Gift, terms: AccountTerms, nowMs: number): Gift {
  const changed = changeTerms(given, terms, nowMs);
  const { given_ends_at_ms: atMs = end?.atMs } = terms;
  if (atMs == null) return { given: changed };
  const before = end?.given ?? given;
  if (terms.given_ends_at_ms === undefined) {
    const { plan, given_plan, trial_ends_at_ms } = changed;
    const named = terms.plan && { plan, given_plan, trial_ends_at_ms };
    const after = { ...changeTerms(before, terms, nowMs), ...named };
    return { given: changed, end: differs(changed, after) ? { atMs, given: after } : undefined };
  }
  const { plan, assistant_limit, own_features, own_limits } = terms;
  if (plan === "trial") throw noEnd("A trial has an end of its own.", "Set it with '--trial-ends'.");
  if (atMs <= nowMs) throw noEnd("This end has come already.", "Set one that is to come.");
  const isAll = !end && [plan, assistant_limit, own_features, own_limits].every((term) => term === undefined);
  const ended = endedTerms(changed, atMs);
  // What is given already for good ends as well if it is named with an end.
  const isKept = plan !== undefined && plan === before.plan && changed.given_plan === before.given_plan;
  const { plan: left, given_plan, trial_ends_at_ms } = ended;
  const comesBack = {
    ...(changed.plan === "licensed" ? lapsedTerms(before) : before),
    ...(isKept && { plan: left, given_plan, trial_ends_at_ms }),
    ...(own_features && changed.own_features === before.own_features && { own_features: null }),
  };
  const after = isAll ? ended : comesBack;
  if (differs(changed, after)) return { given: changed, end: { atMs, given: after } };
  throw noEnd("Nothing is given that could end.", "Name a plan, features or limits next to the end.");
}

const noEnd = (message: string, hint: string) => new ApiError("invalid_request", { message, hint });

function changeTerms(given: Given, terms: AccountTerms, nowMs: number): Given {
  const { assistant_limit = given.assistant_limit } = terms;
  const plan = terms.plan ?? given.plan;
  validateTerms({ ...terms, plan: plan as AccountStatus });
  const keepsEnd = !hasEnd(terms) && given.trial_ends_at_ms !== null;
  const endsAtMs = keepsEnd ? given.trial_ends_at_ms : trialEnd(terms, nowMs);
  const licence = terms.plan ? (terms.given_plan ?? plan) : given.given_plan;
  return {
    plan,
    given_plan: plan === "licensed" ? licence : null,
    paid_plan: null,
    trial_ends_at_ms: plan === "trial" ? endsAtMs : null,
    assistant_limit,
    ...ownColumns(terms, given),
  };
}

/**
 * What an operator gives beyond the plan. Throws an {@link ApiError} if it is so much that an answer would not stay small.
 */
function ownColumns({ own_features, own_limits }: AccountTerms, before: Given) {
  const limits = Object.entries({ ...ownLimitsOf(before), ...own_limits }).filter(
    ([, limit]) => limit !== "plan",
  );
  if (Math.max(own_features?.length ?? 0, limits.length) > maxContents) {
    throw new ApiError("invalid_request", {
      message: `An account has at most ${maxContents} features and ${maxContents} limits beyond its plan.`,
      hint: "Make a plan of them, with 'plan set'.",
    });
  }
  const asJson = (value: object, size: number) => (size > 0 ? JSON.stringify(value) : null);
  return {
    own_features: own_features ? asJson(own_features, own_features.length) : before.own_features,
    own_limits: own_limits ? asJson(Object.fromEntries(limits), limits.length) : before.own_limits,
  };
}
