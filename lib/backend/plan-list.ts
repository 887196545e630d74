import { toCredits } from "@/lib/accounts/credits/ledger";
import { Refusal } from "@/lib/backend/refusals";
import type { Db } from "@/lib/db/store";
import { type Plan, readPlans } from "@/lib/plans/plan";

/**
 * A page of the plans after the one with this name, from the least to the most: all of them at the first, unless it is asked
 * for fewer. Throws a {@link Refusal} if there is no plan `after`.
 */
export async function listPlans(db: Db, after: string | undefined, limit: number) {
  const plans = [...(await readPlans(db)).values()];
  const begin = after === undefined ? 0 : 1 + plans.findIndex(({ name }) => name === after);
  if (after !== undefined && begin === 0) throw new Refusal("plan_not_found");
  const page = plans.slice(begin, begin + limit);
  const isLast = begin + page.length === plans.length;
  return { plans: page.map(describePlan), next: isLast ? null : (page.at(-1)?.name ?? null) };
}

const describePlan = ({ name, title, description, contents, features, ...plan }: Plan) => ({
  name,
  title,
  description,
  features: contents.features,
  featureTitles: features,
  limits: contents.limits,
  creditsAMonth: toCredits(plan.credit_thousandths),
  isOffered: plan.retired_at_ms === null,
});
