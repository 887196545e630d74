import { auditedAccount } from "@/lib/accounts/accounts";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** Sets the owner's time zone, by its canonical name. */
export async function setTimeZone(
  db: Db,
  { id, email }: { id: string; email: string },
  time_zone: string,
  nowMs: number,
): Promise<void> {
  const about = { by: "owner", what: "time zone", ...auditedAccount(email) } as const;
  await auditedTransaction(db, about, nowMs, (transaction) =>
    transaction.updateTable("accounts").set({ time_zone }).where("id", "=", id).execute(),
  );
}
