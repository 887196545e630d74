import { givePlanCredits } from "@/lib/accounts/credits/plan-credits";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { enqueueLicenceEnded } from "@/lib/mail/enqueue-licence-mails";
import { type Plans, readPlans } from "@/lib/plans/plan";
import { listPlanSubscriptions } from "@/lib/plans/plan-prices";
import { findCustomer } from "@/lib/plans/purchases";
import {
  betterOf,
  differs,
  endColumns,
  type Gift,
  type Given,
  giftOf,
  lapsedTerms,
  limitOfPlan,
  type Paid,
  readAfter,
  rowAt,
} from "@/lib/plans/terms";

/**
 * Settles what an account has, in the caller's transaction, which has locked it: after a subscription was read, at a
 * licence's end, at the end of what an operator gives, or with a change of it. What a plan gives by the month is given with it.
 */
export async function settleTerms(
  transaction: Db,
  { id }: { id: string },
  nowMs: number,
  change = (gift: Gift) => gift,
): Promise<void> {
  const account = await accountBy(transaction, "id", id).selectAll().executeTakeFirstOrThrow();
  const now = rowAt(account, nowMs);
  const customer = await findCustomer(transaction, id);
  const plans = await readPlans(transaction);
  const paid = await readPaid(transaction, id, plans, nowMs);
  const hadLicence = Boolean(customer?.licence);
  const settled = (given: Given) => (!paid && hadLicence ? lapsedTerms(given) : given);
  if (now.given_after !== null && !readAfter(now))
    throw new Error("what an account has after an end cannot be read");
  const gift = giftOf(now, customer);
  const { given, end } = change({
    given: settled(gift.given),
    ...(gift.end && { end: { ...gift.end, given: settled(gift.end.given) } }),
  });
  const kept = {
    licence: paid ? "given" : null,
    plan_before: paid ? given.plan : null,
    trial_ends_before_ms: paid ? given.trial_ends_at_ms : null,
    limit_before: paid ? given.assistant_limit : null,
    limit_given: paid && paid.limit < Number.POSITIVE_INFINITY ? paid.limit : null,
  };
  if (customer && differs(customer, kept))
    await transaction.updateTable("billing_customers").set(kept).where("account_id", "=", id).execute();
  const terms = {
    ...betterOf(given, paid, plans),
    ...endColumns(end, end && betterOf(end.given, paid, plans)),
  };
  if (!paid && hadLicence) await enqueueLicenceEnded(transaction, id, nowMs);
  // An end that leaves an ended trial is told once.
  const isOver =
    account.given_ends_at_ms !== now.given_ends_at_ms && (terms.trial_ends_at_ms ?? nowMs) <= nowMs;
  const told = isOver && { trial_end_told_ms: terms.trial_ends_at_ms };
  if (differs(account, terms))
    await transaction
      .updateTable("accounts")
      .set({ ...terms, ...told })
      .where("id", "=", id)
      .execute();
  await givePlanCredits(transaction, { accountId: id, plans }, nowMs);
}

/** What an account's running licences from Stripe give: the plan that has the most, and the highest limit of assistants. */
async function readPaid(db: Db, accountId: string, plans: Plans, nowMs: number): Promise<Paid | undefined> {
  const subscriptions = await listPlanSubscriptions(db, accountId);
  const rows = subscriptions.filter(({ licence_until_ms }) => licence_until_ms > nowMs);
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
