import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";

/** The query of the account with this id, email in lower case, or subject; the caller selects columns of it. */
export function accountBy(db: Db, column: "id" | "email" | "subject", value: string) {
  return db.selectFrom("accounts").where(column, "=", value);
}

/** Locks an account until the end of the transaction, as all do that write what is its own. Returns whether there is one. */
export function lockAccount(transaction: Db, id: string): Promise<boolean> {
  return hasRow(accountBy(transaction, "id", id).select("id").forUpdate());
}
