import type { Db } from "@/lib/db/store";

/** The query of the account with this id, email in lower case, or subject; the caller selects columns of it. */
export function accountBy(db: Db, column: "id" | "email" | "subject", value: string) {
  return db.selectFrom("accounts").where(column, "=", value);
}
