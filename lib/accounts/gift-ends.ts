import { auditedAccount } from "@/lib/accounts/accounts";
import { settleTerms } from "@/lib/accounts/effective-terms";
import { giveMissedCredits } from "@/lib/accounts/plan-credits";
import { accountBy } from "@/lib/db/account-by";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { isOutage } from "@/lib/db/store-outage";
import { log } from "@/lib/runtime/log";

const atOnce = 100;

/**
 * Stores what accounts have after the end of what an operator gave them, which answers say from that end on: so it is told
 * and audited, and a build before this one says it too. Throws in an outage of the store.
 */
export async function endGifts(db: Db, nowMs: number): Promise<void> {
  const due = await db
    .selectFrom("accounts")
    .select("email")
    .where("given_ends_at_ms", "<=", nowMs)
    .orderBy("given_ends_at_ms")
    .limit(atOnce)
    .execute();
  for (const { email } of due) {
    const about = { by: "service", what: "end of what was given", ...auditedAccount(email) } as const;
    try {
      await auditedTransaction(db, about, nowMs, async (transaction) => {
        const account = await accountBy(transaction, "email", email)
          .select(["id", "credits_due_ms"])
          .where("given_ends_at_ms", "<=", nowMs)
          .executeTakeFirst();
        if (!account) return;
        await giveMissedCredits(transaction, account, nowMs, nowMs);
        await settleTerms(transaction, account, nowMs);
      });
    } catch (failure) {
      if (isOutage(failure)) throw failure;
      log().error({ err: failure }, "the end of what an operator gave could not be stored; answers say it");
    }
  }
}
