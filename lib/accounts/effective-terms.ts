import { givePlanCredits } from "@/lib/accounts/plan-credits";
import type { Db } from "@/lib/db/store";
import { enqueueLicenceEnded } from "@/lib/mail/licence-mails";
import { type Plans, readPlans } from "@/lib/plans/plan";
import { findCustomer } from "@/lib/plans/purchases";
import {
  betterOf,
  differs,
  givenTerms,
  lapsedTerms,
  limitOfPlan,
  type Paid,
  type Terms,
} from "@/lib/plans/terms";

/**
 * Settles what an account has, in the caller's transaction, which has locked it: after a subscription was read, at a
 * licence's end, or with a change of what an operator gives. What a plan gives by the month is given with it.
 */
export async function settleTerms(
  transaction: Db,
  account: Terms & { id: string },
  nowMs: number,
  change = (given: Terms) => given,
): Promise<void> {
  const customer = await findCustomer(transaction, account.id);
  const plans = await readPlans(transaction);
  const paid = await readPaid(transaction, account.id, plans, nowMs);
  const hadLicence = Boolean(customer?.licence);
  const before = givenTerms(account, customer);
  const given = change(!paid && hadLicence ? lapsedTerms(before) : before);
  const kept = {
    licence: paid ? "given" : null,
    plan_before: paid ? given.plan : null,
    trial_ends_before_ms: paid ? given.trial_ends_at_ms : null,
    limit_before: paid ? given.assistant_limit : null,
    limit_given: paid && paid.limit < Number.POSITIVE_INFINITY ? paid.limit : null,
  };
  if (customer && differs(customer, kept))
    await transaction
      .updateTable("billing_customers")
      .set(kept)
      .where("account_id", "=", account.id)
      .execute();
  const terms = betterOf(given, paid, plans);
  if (!paid && hadLicence) await enqueueLicenceEnded(transaction, account.id, nowMs);
  if (differs(account, terms))
    await transaction.updateTable("accounts").set(terms).where("id", "=", account.id).execute();
  await givePlanCredits(transaction, account.id, plans, nowMs);
}

/** What an account's running licences from Stripe give: the plan that has the most, and the highest limit of assistants. */
async function readPaid(db: Db, accountId: string, plans: Plans, nowMs: number): Promise<Paid | undefined> {
  const rows = await db
    .selectFrom("billing_subscriptions as subscription")
    .leftJoin("billing_licence_prices as price", "price.id", "subscription.price_id")
    .select(["subscription.assistant_limit", "price.plan"])
    .where("account_id", "=", accountId)
    .where("licence_until_ms", ">", nowMs)
    .execute();
  const order = [...plans.keys()];
  const names = rows.map(({ plan }) => plan ?? "licensed");
  const [plan] = names.toSorted((one, other) => order.indexOf(other) - order.indexOf(one));
  // What was read of a subscription may be older than its plan.
  const limits = rows.map(({ assistant_limit, plan }) => {
    const ofPlan = limitOfPlan(plan ?? "licensed", plans);
    return plan === null ? (assistant_limit ?? ofPlan) : Math.max(assistant_limit ?? 0, ofPlan);
  });
  return plan === undefined ? undefined : { plan, limit: Math.max(...limits) };
}
