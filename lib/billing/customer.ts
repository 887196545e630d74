import { changeAtStripe, findAtStripe, readAtStripe } from "@/lib/billing/stripe";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";

/** The customer at Stripe of an account, by our id of the account. */
export function findCustomer(db: Db, accountId: string): Promise<Tables["billing_customers"] | undefined> {
  const customers = db.selectFrom("billing_customers").selectAll();
  return customers.where("account_id", "=", accountId).executeTakeFirst();
}

/**
 * Stripe's id of the account's customer, which is made on first use, and again if someone deleted it at Stripe. Two
 * requests at once get the same one.
 */
export async function ensureCustomer(
  db: Db,
  { id, email }: { id: string; email: string },
  key: string,
  nowMs: number,
): Promise<string> {
  const { customer_id: known = "" } = (await findCustomer(db, id)) ?? {};
  const atStripe = known && (await findAtStripe((stripe) => stripe.customers.retrieve(known)));
  if (atStripe && !atStripe.deleted) return known;
  const made = await changeAtStripe(`customer-${key}`, (stripe, options) =>
    stripe.customers.create({ email, metadata: { account: id } }, options),
  );
  const kept = await keepCustomer(db, id, made.id, nowMs, known);
  // Another request was first, or the account was deleted meanwhile: no email stays at Stripe for nothing.
  if (kept !== made.id) await findAtStripe((stripe) => stripe.customers.del(made.id));
  if (!kept) throw new ApiError("forbidden");
  return kept;
}

/**
 * Stores the customer of an account, unless there is one. Returns the stored one; `undefined` without the account.
 *
 * @param replaced - a customer that is gone at Stripe
 */
export async function keepCustomer(
  db: Db,
  accountId: string,
  customerId: string,
  nowMs: number,
  replaced = "",
): Promise<string | undefined> {
  await db
    .insertInto("billing_customers")
    .columns(["account_id", "customer_id", "created_at_ms"])
    .expression((from) =>
      from
        .selectFrom("accounts")
        .select(({ val, cast }) => [
          "id",
          val(customerId).as("customer_id"),
          cast<number>(val(nowMs), "bigint").as("at"),
        ])
        .where("id", "=", accountId),
    )
    .onConflict((conflict) =>
      conflict
        .column("account_id")
        .doUpdateSet({ customer_id: customerId })
        .where("billing_customers.customer_id", "=", replaced),
    )
    .execute();
  return (await findCustomer(db, accountId))?.customer_id;
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
    await findAtStripe((stripe) => stripe.customers.del(found.customer_id));
  } catch (failure) {
    throw new ApiError("upstream_failed", {
      message: `The customer at Stripe could not be deleted, so nothing was changed here (${(failure as Error).message}).`,
      hint: "Try again when 'check' finds nothing wrong with billing.",
    });
  }
}

export type BillingSummary = Awaited<ReturnType<typeof readBilling>>;

/** The purchases of an account, as we last read them at Stripe: the current licence, and whether there was any. */
export async function readBilling(db: Db, accountId: string) {
  const newest = db.selectFrom("billing_subscriptions").selectAll().where("account_id", "=", accountId);
  const subscription = await newest.orderBy("licence_until_ms", "desc").executeTakeFirst();
  const paid = await db
    .selectFrom("billing_checkouts")
    .select("id")
    .where("account_id", "=", accountId)
    .where("state", "=", "fulfilled")
    .executeTakeFirst();
  return {
    licence: subscription && subscription.licence_until_ms > 0 ? subscription : undefined,
    hasBought: subscription !== undefined || paid !== undefined,
  };
}

/** Opens Stripe's billing portal for an account that has bought something. Returns its address. */
export async function openPortal(db: Db, accountId: string): Promise<string> {
  const customer = (await findCustomer(db, accountId))?.customer_id;
  if (!customer || !(await readBilling(db, accountId)).hasBought) throw new ApiError("paid_only");
  try {
    const return_url = `${settings().appUrl}${pages.home.path}`;
    const { url } = await readAtStripe((stripe) =>
      stripe.billingPortal.sessions.create({ customer, return_url }),
    );
    return url;
  } catch (failure) {
    log().warn({ err: failure }, "the billing portal could not be opened");
    throw new ApiError("portal_failed");
  }
}
