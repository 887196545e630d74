import type { Stripe } from "stripe";
import { customerDeletion, keepCustomer } from "@/lib/billing/customer";
import { idOf } from "@/lib/billing/stripe";
import { auditedTransaction, recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { log } from "@/lib/runtime/log";

/** The account that a purchase is for. */
export type Buyer = { id: string; email: string };

/** The event that made us read an object at Stripe, for `billing show`. */
export type Cause = { event: string; nowMs: number };

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

/** Whether a checkout was fulfilled before its account was deleted. */
async function wasGiven(db: Db, customerId: string, checkout: string): Promise<boolean> {
  const entries = db.selectFrom("audit_entries").select("after").where("whom", "=", customerId);
  const rows = await entries.where("what", "=", customerDeletion).execute();
  return rows.some(({ after }) => after?.includes(JSON.stringify(checkout)));
}

/** Writes to the audit and the log what an operator has to look at, once. */
export async function tellOnce(
  db: Db,
  { what, whom, after }: { what: string; whom: string; after: object },
  nowMs: number,
): Promise<void> {
  const entries = db
    .selectFrom("audit_entries")
    .select("id")
    .where("whom", "=", whom)
    .where("what", "=", what);
  if (await entries.executeTakeFirst()) return;
  log().warn({ purchase: whom }, `${what}: nothing was given, look at it at Stripe`);
  await recordAudit(db, { by: "stripe", what, whom, after }, nowMs);
}

/** Changes an account, whose row it locks. Returns `undefined` if the account is gone. */
export async function changeAccount<T>(
  db: Db,
  { id, email: whom }: Buyer,
  what: string,
  nowMs: number,
  work: (transaction: Db, account: Tables["accounts"]) => Promise<T>,
): Promise<T | undefined> {
  const look = (transaction: Db) =>
    transaction.selectFrom("accounts").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  return auditedTransaction(db, { by: "stripe", what, whom, look }, nowMs, async (transaction) => {
    const account = await look(transaction);
    return account && work(transaction, account);
  });
}
