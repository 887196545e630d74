import { findCustomer } from "@/lib/billing/customer";
import { requireBilling } from "@/lib/billing/stripe";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

type Customer = Tables["billing_customers"];
type Terms = Pick<Tables["accounts"], "plan" | "trial_ends_at_ms" | "assistant_limit">;

/**
 * Gives an account the plan `licensed` while one of its subscriptions is a licence, and afterwards the terms that it had
 * before, in the caller's transaction, which has locked the account. A plan that an operator gave by hand stays.
 */
export async function settleLicence(
  transaction: Db,
  account: Terms & { id: string },
  nowMs: number,
): Promise<void> {
  const customer = await findCustomer(transaction, account.id);
  const subscriptions = await transaction
    .selectFrom("billing_subscriptions")
    .select(["licence_until_ms", "assistant_limit"])
    .where("account_id", "=", account.id)
    .execute();
  const licences = subscriptions.filter(({ licence_until_ms }) => licence_until_ms > nowMs);
  const limits = licences.flatMap(({ assistant_limit }) => assistant_limit ?? []);
  const limit = limits.length > 0 ? Math.max(...limits) : null;
  const setAccount = (terms: Partial<Terms>) =>
    transaction.updateTable("accounts").set(terms).where("id", "=", account.id).execute();
  const setCustomer = (values: Partial<Customer>) =>
    transaction.updateTable("billing_customers").set(values).where("account_id", "=", account.id).execute();

  if (licences.length === 0) {
    const ended = transaction.updateTable("billing_subscriptions").set({ licence_until_ms: 0 });
    await ended.where("account_id", "=", account.id).where("licence_until_ms", ">", 0).execute();
    if (customer?.licence === "given") await setAccount(termsAfter(customer, account));
    if (customer?.licence) await setCustomer({ licence: null, limit_given: null });
  } else if (!customer?.licence) {
    await setCustomer({
      licence: "given",
      plan_before: account.plan,
      trial_ends_before_ms: account.trial_ends_at_ms,
      limit_before: account.assistant_limit,
      limit_given: limit,
    });
    const assistant_limit = limit ?? account.assistant_limit;
    await setAccount({ plan: "licensed", trial_ends_at_ms: null, assistant_limit });
  } else if (customer.licence === "given" && limit !== null && limit !== customer.limit_given) {
    await setCustomer({ limit_given: limit });
    const isUnchanged = account.assistant_limit === (customer.limit_given ?? customer.limit_before);
    if (isUnchanged) await setAccount({ assistant_limit: limit });
  }
}

/** The terms after a licence. A trial has its rest, unless LAPSED_PLAN is hobby. */
function termsAfter({ plan_before, ...customer }: Customer, { assistant_limit: limit }: Terms): Terms {
  const isLimitOurs = customer.limit_given !== null && limit === customer.limit_given;
  const assistant_limit = isLimitOurs ? customer.limit_before : limit;
  if (plan_before === "trial" && requireBilling().lapsedPlan === "trial-ended") {
    return { plan: plan_before, trial_ends_at_ms: customer.trial_ends_before_ms, assistant_limit };
  }
  return {
    plan: plan_before === "licensed" ? plan_before : "hobby",
    trial_ends_at_ms: null,
    assistant_limit,
  };
}
