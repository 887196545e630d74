import { findCustomer } from "@/lib/billing/customer";
import { requireBilling } from "@/lib/billing/stripe";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

type Subscription = Tables["billing_subscriptions"];
type Terms = Pick<Tables["accounts"], "plan" | "trial_ends_at_ms" | "assistant_limit">;

/**
 * Gives an account the plan `licensed` while one of its subscriptions is a licence, and afterwards the terms that it had
 * before, in the caller's transaction. A plan that an operator gave by hand stays.
 */
export async function settleLicence(transaction: Db, accountId: string, nowMs: number): Promise<void> {
  const customer = await findCustomer(transaction, accountId);
  if (!customer) return;
  const account = await transaction
    .selectFrom("accounts")
    .select(["plan", "trial_ends_at_ms", "assistant_limit"])
    .where("id", "=", accountId)
    .executeTakeFirstOrThrow();
  const subscriptions = await transaction
    .selectFrom("billing_subscriptions")
    .selectAll()
    .where("account_id", "=", accountId)
    .execute();
  const licences = subscriptions.filter(({ licence_until_ms }) => licence_until_ms > nowMs);
  const setAccount = (terms: Partial<Terms>) =>
    transaction.updateTable("accounts").set(terms).where("id", "=", accountId).execute();
  const setCustomer = (values: Partial<Tables["billing_customers"]>) =>
    transaction.updateTable("billing_customers").set(values).where("account_id", "=", accountId).execute();

  if (licences.length === 0) {
    await transaction
      .updateTable("billing_subscriptions")
      .set({ licence_until_ms: 0 })
      .where("account_id", "=", accountId)
      .where("licence_until_ms", ">", 0)
      .execute();
    if (customer.licence === "given") await setAccount(termsAfter(customer, account));
    if (customer.licence !== null) await setCustomer({ licence: null, limit_given: null });
    return;
  }
  const limit = limitOf(licences);
  if (customer.licence === null) {
    await setCustomer({
      licence: "given",
      plan_before: account.plan,
      trial_ends_before_ms: account.trial_ends_at_ms,
      limit_before: account.assistant_limit,
      limit_given: limit,
    });
    await setAccount({
      plan: "licensed",
      trial_ends_at_ms: null,
      assistant_limit: limit ?? account.assistant_limit,
    });
  } else if (customer.licence === "given" && limit !== null && limit !== customer.limit_given) {
    await setCustomer({ limit_given: limit });
    if (account.assistant_limit === (customer.limit_given ?? customer.limit_before)) {
      await setAccount({ assistant_limit: limit });
    }
  }
}

/** The limit of assistants of several licences: the largest; null if none of them has one. */
function limitOf(licences: Subscription[]): number | null {
  const limits = licences.flatMap(({ assistant_limit }) => assistant_limit ?? []);
  return limits.length > 0 ? Math.max(...limits) : null;
}

/** The terms after a licence. A trial has its rest, unless LAPSED_PLAN is hobby. */
function termsAfter(customer: Tables["billing_customers"], account: Terms): Terms {
  const { plan_before, trial_ends_before_ms, limit_before, limit_given } = customer;
  const isLimitOurs = limit_given !== null && account.assistant_limit === limit_given;
  const assistant_limit = isLimitOurs ? limit_before : account.assistant_limit;
  if (plan_before !== "trial")
    return { plan: plan_before ?? "hobby", trial_ends_at_ms: null, assistant_limit };
  return requireBilling().lapsedPlan === "hobby"
    ? { plan: "hobby", trial_ends_at_ms: null, assistant_limit }
    : { plan: "trial", trial_ends_at_ms: trial_ends_before_ms, assistant_limit };
}
