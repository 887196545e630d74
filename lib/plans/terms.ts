import { asIso } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import type { Tables } from "@/lib/db/tables";

/** A plan, the end of its trial and its limit of assistants. */
export type Terms = Pick<Tables["accounts"], "plan" | "trial_ends_at_ms" | "assistant_limit">;

/** The columns that say what an operator gives an account while Stripe gives it a licence. */
export const customerColumns = [
  "customer_id",
  "licence",
  "plan_before",
  "trial_ends_before_ms",
  "limit_before",
  "limit_given",
] as const;

/**
 * The terms that an operator gives an account. Without a licence from Stripe they are the account's own, and while it has
 * one they are stored next to its customer. `overridden` is the word of earlier builds for terms that an operator has set
 * meanwhile; they, and a limit that is neither side's, are in the account.
 */
export function givenTerms(
  { plan, trial_ends_at_ms, assistant_limit }: Terms,
  customer: Pick<Tables["billing_customers"], (typeof customerColumns)[number]> | undefined,
): Terms {
  if (customer?.licence !== "given" || customer.plan_before === null)
    return { plan, trial_ends_at_ms, assistant_limit };
  const before: Terms = {
    plan: customer.plan_before,
    trial_ends_at_ms: customer.trial_ends_before_ms,
    assistant_limit: customer.limit_before,
  };
  const known = [customer.limit_given, betterOf(before, { limit: customer.limit_given }).assistant_limit];
  return known.includes(assistant_limit) ? before : { ...before, assistant_limit };
}

/**
 * What an account has: the better of what an operator gives and of what Stripe gives. A licence without a limit has none; a
 * limit of the operator's counts next to a licence where it is higher, and no limit at all only with the plan `licensed`.
 */
export function betterOf(given: Terms, paid: { limit: number | null } | undefined): Terms {
  if (!paid) return given;
  const none = Number.POSITIVE_INFINITY;
  const ofOperator = given.assistant_limit ?? (given.plan === "licensed" ? none : 0);
  const limit = Math.max(ofOperator, paid.limit ?? none);
  return { plan: "licensed", trial_ends_at_ms: null, assistant_limit: limit === none ? null : limit };
}

/** Whether a row has another value in one of these columns. */
export function differs<Row extends object>(row: Row, values: Partial<Row>): boolean {
  return Object.entries(values).some(([name, value]) => row[name as keyof Row] !== value);
}

/** The operator's terms after a licence: a trial has its rest, unless LAPSED_PLAN is hobby, which has a limit. */
export function lapsedTerms(given: Terms): Terms {
  const { lapsedPlan, lapsedLimit } = settings().billing ?? {};
  if (given.plan !== "trial" || lapsedPlan !== "hobby") return given;
  const assistant_limit = given.assistant_limit ?? lapsedLimit ?? null;
  return { plan: "hobby", trial_ends_at_ms: null, assistant_limit };
}

/** For example `licensed, at most 25 assistants`. */
export function describeTerms({ plan, trial_ends_at_ms, assistant_limit }: Partial<Terms>): string {
  const end = trial_ends_at_ms == null ? "" : ` until ${asIso(trial_ends_at_ms)}`;
  return `${plan}${end}${assistant_limit == null ? "" : `, at most ${assistant_limit} assistants`}`;
}
