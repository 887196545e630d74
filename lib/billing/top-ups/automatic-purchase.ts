import { monthOf } from "@/lib/accounts/credits/credit-watch";
import type { Owner } from "@/lib/accounts/require-owner";
import { lockAccount } from "@/lib/db/account-by";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { StopReason } from "@/lib/mail/kinds/credits";
import { enqueueMail } from "@/lib/mail/outbox/outbox";

/* An owner may let a pack be bought whenever a spend leaves too few credits, so many times a month. */

const columns = ["top_up_price", "top_up_below_thousandths", "top_up_most"] as const;

/** A change of it, for the audit. */
export function auditedPurchase(id: string, email: string, by: Actor) {
  const readState = async (transaction: Db) => {
    await lockAccount(transaction, id);
    const limits = transaction.selectFrom("credit_limits").where("account_id", "=", id);
    return limits.select(columns).executeTakeFirst();
  };
  return { by, what: "automatic purchase", whom: email, readState };
}

/** Turns it off, as its owner wants. */
export async function endAutomaticPurchase(db: Db, { account, by }: Owner, nowMs: number): Promise<void> {
  await auditedTransaction(db, auditedPurchase(account.id, account.email, by), nowMs, (transaction) =>
    setColumns(transaction, account.id, { ...off, top_up_stopped: null }),
  );
}

/** Turns it off because it must not go on, or this purchase, with a mail that says why; nothing if it is off. */
export async function stopAutomaticPurchase(
  db: Db,
  { id, email }: { id: string; email: string },
  { why, id: purchase }: { why: StopReason; id?: string },
  nowMs: number,
): Promise<void> {
  await auditedTransaction(
    db,
    { ...auditedPurchase(id, email, "service"), facts: { why } },
    nowMs,
    async (transaction) => {
      const stopped = await transaction
        .updateTable("credit_limits")
        .set({ ...off, top_up_stopped: why })
        .where("account_id", "=", id)
        .where("top_up_price", "is not", null)
        .returning("account_id")
        .executeTakeFirst();
      if (!stopped) return;
      const mail = { kind: "automatic purchase stopped", accountId: id, why, purchase } as const;
      await enqueueMail(transaction, mail, { nowMs });
    },
  );
}

const off = { top_up_price: null, top_up_below_thousandths: null, top_up_most: null, top_up_due_ms: null };

/** Sets what an account has of it, and of limits nothing if it has none. */
export async function setColumns(transaction: Db, account_id: string, set: object): Promise<void> {
  await transaction
    .insertInto("credit_limits")
    .values({ account_id, month_ms: 0, spent_thousandths: 0, ...set })
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(set))
    .execute();
}

/** How many packs were bought for an account this month (UTC), or are being bought. */
export async function countTopUps(db: Db, accountId: string, nowMs: number): Promise<number> {
  const { count } = await db
    .selectFrom("billing_checkouts")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", accountId)
    .where("kind", "=", "top-up")
    .where("state", "not in", ["failed", "expired"])
    .where("created_at_ms", ">=", monthOf(nowMs))
    .executeTakeFirstOrThrow();
  return Number(count);
}
