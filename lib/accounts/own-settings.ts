import { auditedAccount } from "@/lib/accounts/accounts";
import type { Owner } from "@/lib/accounts/require-owner";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** Sets the owner's time zone, by its canonical name. */
export async function setTimeZone(db: Db, { id, email }: Owner["account"], time_zone: string, nowMs: number) {
  const about = { by: "owner", what: "time zone", ...auditedAccount(email) } as const;
  await auditedTransaction(db, about, nowMs, (transaction) =>
    transaction.updateTable("accounts").set({ time_zone }).where("id", "=", id).execute(),
  );
}

/** Switches the mails about the end of apps on or off. */
export async function switchAppEndMails(db: Db, { account, by }: Owner, isWanted: boolean, nowMs: number) {
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
