import { changeAtStripe, findAtStripe } from "@/lib/billing/stripe";
import { settings } from "@/lib/config/settings";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { log } from "@/lib/runtime/log";

/** Finds the customer at Stripe of an account, by our id of the account. */
export function findCustomer(db: Db, accountId: string): Promise<Tables["billing_customers"] | undefined> {
  return db
    .selectFrom("billing_customers")
    .selectAll()
    .where("account_id", "=", accountId)
    .executeTakeFirst();
}

/** Stripe's id of the account's customer, which is made on first use. Two requests at once get the same one. */
export async function ensureCustomer(
  db: Db,
  { id, email }: { id: string; email: string },
  key: string,
  nowMs: number,
): Promise<string> {
  const known = await findCustomer(db, id);
  if (known) return known.customer_id;
  const made = await changeAtStripe(`customer-${key}`, (stripe, options) =>
    stripe.customers.create({ email, metadata: { account: id } }, options),
  );
  const kept = await keepCustomer(db, id, made.id, nowMs);
  // Another request was first, or the account was deleted meanwhile: no email stays at Stripe for nothing.
  if (kept !== made.id) await findAtStripe((stripe) => stripe.customers.del(made.id));
  if (!kept) throw new ApiError("forbidden");
  return kept;
}

/** Stores the customer of an account, unless there is one. Returns the stored one; `undefined` without the account. */
export async function keepCustomer(
  db: Db,
  accountId: string,
  customerId: string,
  nowMs: number,
): Promise<string | undefined> {
  const readAccount = (transaction: Db) =>
    transaction.selectFrom("accounts").select("email").where("id", "=", accountId);
  const whom = (await readAccount(db).executeTakeFirst())?.email;
  if (!whom) return undefined;
  const look = async (transaction: Db) =>
    (await findCustomer(transaction, accountId)) && { customer: "made" };
  const about = { by: "stripe", what: "customer create", whom, look } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    if (!(await readAccount(transaction).forUpdate().executeTakeFirst())) return undefined;
    await transaction
      .insertInto("billing_customers")
      .values({ account_id: accountId, customer_id: customerId, created_at_ms: nowMs })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await findCustomer(transaction, accountId))?.customer_id;
  });
}

/**
 * Deletes an account's customer at Stripe, which ends its subscriptions there: an account that is gone must not be
 * charged. Throws an {@link ApiError} if that is not certain.
 */
export async function deleteCustomer(db: Db, of: "email" | "subject", value: string): Promise<void> {
  const found = await db
    .selectFrom("billing_customers")
    .innerJoin("accounts", "accounts.id", "billing_customers.account_id")
    .select("customer_id")
    .where(`accounts.${of}`, "=", value)
    .executeTakeFirst();
  if (!found) return;
  try {
    if (!settings().billing) throw new Error("the settings of billing are missing");
    await findAtStripe((stripe) => stripe.customers.del(found.customer_id));
  } catch (failure) {
    log().warn({ err: failure }, "a customer at Stripe could not be deleted");
    throw new ApiError("upstream_failed", {
      message: `The customer at Stripe could not be deleted, so nothing was changed here (${(failure as Error).message}).`,
      hint: "Try again when 'check' finds nothing wrong with billing.",
    });
  }
}
