import type { Stripe } from "stripe";
import { type Buyer, keepCustomer, tellOnce } from "@/lib/accounts/purchases";
import { customerDeletion } from "@/lib/billing/customer";
import { idOf } from "@/lib/billing/stripe";
import type { Db } from "@/lib/db/store";

type Bought = {
  id: string;
  customer: string | { id: string } | null;
  metadata: Stripe.Metadata | null;
};

/**
 * Finds the account that a purchase is for, by its customer or by the id that our checkout gave it. If the account was
 * deleted meanwhile, the audit says so.
 *
 * @param isCharged - whether someone pays for it, so that an operator has to refund it
 */
export async function findBuyer(
  db: Db,
  { id, customer, metadata }: Bought,
  isCharged: boolean,
  nowMs: number,
): Promise<Buyer | undefined> {
  const customerId = customer ? idOf(customer) : "";
  const accounts = db.selectFrom("accounts").select(["accounts.id", "accounts.email"]);
  const known = await accounts
    .innerJoin("billing_customers", "billing_customers.account_id", "accounts.id")
    .where("customer_id", "=", customerId)
    .executeTakeFirst();
  if (known || !metadata?.account) return known;
  const named = await accounts.where("accounts.id", "=", metadata.account).executeTakeFirst();
  if (named) await keepCustomer(db, named.id, customerId, nowMs);
  else if (isCharged && !(await wasGiven(db, customerId, id)))
    await tellOnce(db, { what: "purchase without account", whom: id, after: { given: "nothing" } }, nowMs);
  return named;
}

async function wasGiven(db: Db, customerId: string, checkout: string): Promise<boolean> {
  const entries = db.selectFrom("audit_entries").select("after").where("whom", "=", customerId);
  const rows = await entries.where("what", "=", customerDeletion).execute();
  return rows.some(({ after }) => after?.includes(JSON.stringify(checkout)));
}
