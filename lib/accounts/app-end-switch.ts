import { auditedAccount } from "@/lib/accounts/accounts";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** Switches the mails about the end of apps on or off. */
export async function switchAppEndMails(
  db: Db,
  { account, by }: { account: { id: string; email: string }; by: Actor },
  isWanted: boolean,
  nowMs: number,
): Promise<void> {
  const about = { by, what: `app mails ${isWanted ? "on" : "off"}`, ...auditedAccount(account.email) };
  await auditedTransaction(db, about, nowMs, (transaction) =>
    transaction
      .updateTable("accounts")
      .set({ app_end_mails_stopped_at_ms: isWanted ? null : nowMs })
      .where("id", "=", account.id)
      .where("app_end_mails_stopped_at_ms", isWanted ? "is not" : "is", null)
      .execute(),
  );
}
