import { accountAt, auditedColumns } from "@/lib/accounts/account-columns";
import { accountBy, lockAccount } from "@/lib/db/account-by";
import { auditedTransaction, recordAudit } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import { findCustomer } from "@/lib/plans/purchases";
import { differs } from "@/lib/plans/terms";
import { log } from "@/lib/runtime/log";

/* What we store of purchases at Stripe: customers, payments, and what operators have to know of them. */

/** The account that a purchase is for. */
export type Buyer = { id: string; email: string };

/** What came of a reading at Stripe: another one was stored since it began, or its account is gone. */
export type Stored = "stored" | "outdated" | "gone";

/** Stores the customer of an account, unless it has another than `replaced`. Returns what it has; none without the account. */
export async function keepCustomer(
  db: Db,
  { accountId, customerId, replaced = "" }: { accountId: string; customerId: string; replaced?: string },
  nowMs: number,
): Promise<string | undefined> {
  return transact(db, async (transaction) => {
    if (!(await lockAccount(transaction, accountId))) return undefined;
    await transaction
      .insertInto("billing_customers")
      .values({ account_id: accountId, customer_id: customerId, created_at_ms: nowMs })
      .onConflict((conflict) =>
        conflict
          .column("account_id")
          .doUpdateSet({ customer_id: customerId })
          .where("billing_customers.customer_id", "=", replaced),
      )
      .execute();
    return (await findCustomer(transaction, accountId))?.customer_id;
  });
}

/** Stores payments as they were last read at Stripe, if they are new or changed; nothing if the account is gone. */
export async function keepPayments(
  db: Db,
  account_id: string,
  bought: string,
  payments: Omit<Tables["billing_payments"], "account_id" | "bought">[],
): Promise<void> {
  if (payments.length === 0) return;
  const ids = payments.map(({ id }) => id);
  const kept = await db.selectFrom("billing_payments").selectAll().where("id", "in", ids).execute();
  const isKept = (payment: object) => kept.some((one) => !differs(one, payment));
  if (payments.every(isKept)) return;
  await transact(db, async (transaction) => {
    if (!(await lockAccount(transaction, account_id))) return;
    for (const { id, ...payment } of payments)
      await transaction
        .insertInto("billing_payments")
        .values({ id, account_id, bought, ...payment })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(payment))
        .execute();
  });
}

/** Changes an account, whose row it locks. `facts` are what the audit says next to the change. */
export async function changeAccount(
  db: Db,
  { buyer, ...about }: { buyer: Buyer; what: string; facts?: object },
  nowMs: number,
  work: (transaction: Db, account: Tables["accounts"]) => Promise<"stored" | "outdated">,
): Promise<Stored> {
  const lock = (transaction: Db) => accountBy(transaction, "id", buyer.id).forUpdate();
  const readState = (transaction: Db) => lock(transaction).select(auditedColumns).executeTakeFirst();
  const change = { ...about, by: "stripe", whom: buyer.email, readState } as const;
  return auditedTransaction(db, change, nowMs, async (transaction) => {
    const account = await lock(transaction).select(accountAt(nowMs)).executeTakeFirst();
    return account ? work(transaction, account) : "gone";
  });
}

/** Writes to the audit and the log what an operator has to look at, once. */
export async function tellOnce(
  db: Db,
  { what, whom, after }: { what: string; whom: string; after: object },
  nowMs: number,
): Promise<void> {
  const entries = db.selectFrom("audit_entries").select("id").where("whom", "=", whom);
  if (await hasRow(entries.where("what", "=", what))) return;
  log().warn({ purchase: whom }, `${what}: nothing was given, look at it at Stripe`);
  await recordAudit(db, { by: "stripe", what, whom, after }, nowMs);
}

/** Writes to the audit that an account pays for a second licence. */
export async function tellOfSecond(transaction: Db, buyer: Buyer, id: string, nowMs: number): Promise<void> {
  const other = await transaction
    .selectFrom("billing_subscriptions")
    .select("id")
    .where("account_id", "=", buyer.id)
    .where("id", "<>", id)
    .where("status", "in", ["active", "trialing", "past_due"])
    .executeTakeFirst();
  if (!other) return;
  const about = { by: "stripe", what: "second subscription", whom: buyer.email } as const;
  await recordAudit(transaction, { ...about, after: { subscription: id, other: other.id } }, nowMs);
}
