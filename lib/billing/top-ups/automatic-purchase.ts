import { auditedLimits, writeLimits } from "@/lib/accounts/credits/credit-limits";
import { monthOf } from "@/lib/accounts/credits/credit-watch";
import type { Owner } from "@/lib/accounts/require-owner";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { StopReason } from "@/lib/mail/kinds/credits";
import { enqueueMail } from "@/lib/mail/outbox/outbox";

/* An owner may let a pack be bought whenever a spend leaves too few credits, so many times a month. */

/** A change of it, for the audit. */
export const auditedPurchase = (account: { id: string; email: string }, by: Actor) => {
  const columns = ["top_up_price", "top_up_below_thousandths", "top_up_most"] as const;
  return auditedLimits(account, { by, what: "automatic purchase", columns });
};

/** Turns it off, as its owner wants. */
export async function endAutomaticPurchase(db: Db, { account, by }: Owner, nowMs: number): Promise<void> {
  await auditedTransaction(db, auditedPurchase(account, by), nowMs, (transaction) =>
    writeLimits(transaction, account.id, { ...off, top_up_stopped: null }, nowMs),
  );
}

/** Turns it off because it must not go on, or this purchase, with a mail that says why; nothing if it is off. */
export async function stopAutomaticPurchase(
  db: Db,
  account: { id: string; email: string },
  { why, id: purchase, pack }: { why: StopReason; id?: string; pack?: string },
  nowMs: number,
): Promise<void> {
  const about = { ...auditedPurchase(account, "service"), facts: { why } };
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const stopping = transaction
      .updateTable("credit_limits")
      .set({ ...off, top_up_stopped: why })
      .where("account_id", "=", account.id)
      .where("top_up_price", "is not", null);
    if (!(await hasRow(stopping.returning("account_id")))) return;
    const what = { why, purchase, pack, atMs: nowMs };
    const mail = { kind: "automatic purchase stopped", accountId: account.id, ...what } as const;
    await enqueueMail(transaction, mail, { nowMs });
  });
}

const off = { top_up_price: null, top_up_below_thousandths: null, top_up_most: null, top_up_due_ms: null };

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
