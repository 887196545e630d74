import { accountBy } from "@/lib/db/account-by";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** Whether an account gets a mail before the access of an app ends. */
export async function wantsAppEndMails(db: Db, accountId: string): Promise<boolean> {
  const row = await accountBy(db, "id", accountId).select("app_end_mails_stopped_at_ms").executeTakeFirst();
  return row?.app_end_mails_stopped_at_ms === null;
}

/** Switches the mails about the end of apps on or off. */
export async function switchAppEndMails(
  db: Db,
  { account, by }: { account: { id: string; email: string }; by: Actor },
  isWanted: boolean,
  nowMs: number,
): Promise<void> {
  const readState = async (transaction: Db) => ({
    appEndMails: await wantsAppEndMails(transaction, account.id),
  });
  const about = { by, what: `app mails ${isWanted ? "on" : "off"}`, whom: account.email, readState };
  await auditedTransaction(db, about, nowMs, (transaction) =>
    transaction
      .updateTable("accounts")
      .set({ app_end_mails_stopped_at_ms: isWanted ? null : nowMs })
      .where("id", "=", account.id)
      .where("app_end_mails_stopped_at_ms", isWanted ? "is not" : "is", null)
      .execute(),
  );
}
