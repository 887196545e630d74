import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { log } from "@/lib/runtime/log";

/*
 * Purchases at Stripe for an email without an account: a price of ours that was sold by a Payment Link or in the dashboard, or
 * to an account that a restored store does not have. They are given once there is an account with the email.
 */

export type UnclaimedPurchase = Tables["billing_unclaimed"];

/** Keeps a purchase until there is an account with its email. */
export async function keepUnclaimed(db: Db, purchase: UnclaimedPurchase): Promise<void> {
  const insert = db
    .insertInto("billing_unclaimed")
    .values(purchase)
    .onConflict((conflict) => conflict.doNothing());
  if (await hasRow(insert.returning("id")))
    log().warn({ purchase: purchase.id }, "a purchase is for an email without an account: see 'check'");
}

/** The purchases without an account, oldest first. */
export function listUnclaimed(db: Db): Promise<UnclaimedPurchase[]> {
  return db.selectFrom("billing_unclaimed").selectAll().orderBy("created_at_ms").limit(100).execute();
}

/** What an operator does about one. */
export function describeUnclaimed({ id, email }: Pick<UnclaimedPurchase, "id" | "email">): string {
  return `${email} paid for ${id} and has no account: 'invite ${email}', or 'account add ${email}'`;
}
