import { asIso } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import type { Tables } from "@/lib/db/tables";
import { limitIn, type Plans } from "@/lib/plans/plan";

/** A plan, the end of its trial and its own limit of assistants; of a licence, which an operator and which Stripe gives. */
export type Terms = Pick<
  Tables["accounts"],
  "plan" | "trial_ends_at_ms" | "assistant_limit" | "given_plan" | "paid_plan"
>;

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
  { plan, trial_ends_at_ms, assistant_limit, given_plan, paid_plan }: Terms,
  customer: Pick<Tables["billing_customers"], (typeof customerColumns)[number]> | undefined,
): Terms {
  const given = (plan: string) => ({
    plan,
    given_plan: plan === "licensed" ? (given_plan ?? plan) : null,
    paid_plan: null,
  });
  if (customer?.licence !== "given" || customer.plan_before === null)
    return { ...given(plan), trial_ends_at_ms, assistant_limit };
  const before: Terms = {
    ...given(customer.plan_before),
    trial_ends_at_ms: customer.trial_ends_before_ms,
    assistant_limit: customer.limit_before,
  };
  const { limit_given } = customer;
  const better = Math.max(
    ownLimit(before, Number.POSITIVE_INFINITY),
    limit_given ?? Number.POSITIVE_INFINITY,
  );
  const isKnown = paid_plan !== null || [limit_given, finite(better)].includes(assistant_limit);
  return isKnown ? before : { ...before, assistant_limit };
}

/**
 * What an account has: the better of what an operator gives and of what Stripe gives. A licence without a limit has none; a
 * limit of the operator's counts next to a licence where it is higher, and no limit at all only with the plan `licensed`.
 */
export function betterOf(given: Terms, paid: Paid | undefined, plans: Plans): Terms {
  if (!paid) return given;
  const ofGiven = given.given_plan === null ? 0 : limitOfPlan(given.given_plan, plans);
  const limit = Math.max(ownLimit(given, ofGiven), paid.limit);
  const byPlans = Math.max(ofGiven, limitOfPlan(paid.plan, plans));
  return {
    plan: "licensed",
    given_plan: given.given_plan,
    paid_plan: paid.plan,
    trial_ends_at_ms: null,
    assistant_limit: limit === byPlans ? null : finite(limit),
  };
}

/** What Stripe gives: the plan of the licence, and its limit of assistants, which is infinite without one. */
export type Paid = { plan: string; limit: number };

/** A plan's limit of assistants; infinity for none. */
export function limitOfPlan(name: string, plans: Plans): number {
  const plan = plans.get(name);
  return plan ? limitIn(plan, "assistants") : Number.POSITIVE_INFINITY;
}

/** The limit of assistants of what an operator gives; next to a licence, no limit counts only with the plan `licensed`. */
const ownLimit = ({ plan, assistant_limit }: Terms, byPlan: number) =>
  assistant_limit ?? (plan === "licensed" ? byPlan : 0);

const finite = (limit: number) => (limit === Number.POSITIVE_INFINITY ? null : limit);

/** Whether a row has another value in one of these columns. */
export function differs<Row extends object>(row: Row, values: Partial<Row>): boolean {
  return Object.entries(values).some(([name, value]) => row[name as keyof Row] !== value);
}

/** The operator's terms after a licence: a trial has its rest, unless LAPSED_PLAN is hobby, which has a limit. */
export function lapsedTerms(given: Terms): Terms {
  const { lapsedPlan, lapsedLimit } = settings().billing ?? {};
  if (given.plan !== "trial" || lapsedPlan !== "hobby") return given;
  const assistant_limit = given.assistant_limit ?? lapsedLimit ?? null;
  return { ...given, plan: "hobby", trial_ends_at_ms: null, assistant_limit };
}

/** For example `studio, at most 25 assistants`. */
export function describeTerms({
  given_plan,
  plan,
  trial_ends_at_ms,
  assistant_limit,
}: Partial<Terms>): string {
  const end = trial_ends_at_ms == null ? "" : ` until ${asIso(trial_ends_at_ms)}`;
  return `${given_plan ?? plan}${end}${assistant_limit == null ? "" : `, at most ${assistant_limit} assistants`}`;
}
