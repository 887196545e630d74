import { giveMissedCredits } from "@/lib/accounts/credits/plan-credits";
import { settleTerms } from "@/lib/accounts/terms/effective-terms";
import { changeAccount } from "@/lib/billing/customer/purchases";
import type { Db } from "@/lib/db/store";

/** Ends the licences whose end has come, also while Stripe cannot be asked. */
export async function endDueLicences(db: Db, nowMs: number): Promise<void> {
  const due = await db
    .selectFrom("billing_subscriptions")
    .innerJoin("accounts", "accounts.id", "billing_subscriptions.account_id")
    .select(["billing_subscriptions.id as subscription", "accounts.id", "accounts.email"])
    .where("licence_until_ms", ">", 0)
    .where("licence_until_ms", "<=", nowMs)
    .execute();
  for (const { subscription, ...buyer } of due) {
    await changeAccount(db, { buyer, what: "licence ended" }, nowMs, async (transaction, account) => {
      await giveMissedCredits(transaction, account, nowMs, nowMs);
      await transaction
        .updateTable("billing_subscriptions")
        .set(({ eb }) => ({ licence_until_ms: 0, version: eb("version", "+", 1) }))
        .where("id", "=", subscription)
        .where("licence_until_ms", "<=", nowMs)
        .execute();
      await settleTerms(transaction, account, nowMs);
      return "stored";
    });
  }
}
