import { auditedAccount } from "@/lib/accounts/accounts";
import { giveMissedCredits } from "@/lib/accounts/credits/plan-credits";
import { settleTerms } from "@/lib/accounts/terms/effective-terms";
import { hourMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import { auditedTransaction } from "@/lib/db/audit";
import { listOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import { isOutage } from "@/lib/db/store-outage";
import { log } from "@/lib/runtime/log";

const atOnce = 100;

/** The accounts whose end could not be stored lately, by id, and when it is tried again. */
const deferred = new Map<string, number>();
const deferredMs = hourMs;
const maxDeferred = 1000;

/**
 * Stores what accounts have after the end of what an operator gave them, which answers say from that end on. One that cannot be
 * stored is logged, and tried again in an hour. Throws in an outage of the store.
 */
export async function endGifts(db: Db, nowMs: number): Promise<void> {
  for (const [id, untilMs] of deferred)
    if (untilMs <= nowMs || deferred.size > maxDeferred) deferred.delete(id);
  const due = await db
    .selectFrom("accounts")
    .select(["id", "email"])
    .where("given_ends_at_ms", "<=", nowMs)
    .where("id", "not in", listOf(db, [...deferred.keys()]))
    .orderBy("given_ends_at_ms")
    .limit(atOnce)
    .execute();
  for (const { id, email } of due) {
    const about = { by: "service", what: "end of what was given", ...auditedAccount(email) } as const;
    try {
      await auditedTransaction(db, about, nowMs, async (transaction) => {
        const account = await accountBy(transaction, "email", email)
          .select(["id", "credits_due_ms"])
          .executeTakeFirst();
        if (!account) return;
        await giveMissedCredits(transaction, account, nowMs, nowMs);
        await settleTerms(transaction, account, nowMs);
      });
    } catch (failure) {
      if (isOutage(failure)) throw failure;
      deferred.set(id, nowMs + deferredMs);
      const words = "the end of what an operator gave could not be stored; answers say it";
      log().error({ err: failure, account: id }, words);
    }
  }
}
