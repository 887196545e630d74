import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";

/** The longest name of an account's, in characters. */
export const maxReferenceCharacters = 200;

/**
 * Sets the operator's own name for an account, in the caller's transaction; `null` takes it away.
 *
 * @param taken - makes what is thrown if another account has the name, or takes it at the same time
 */
export async function writeReference(
  transaction: Db,
  id: string,
  reference: string | null,
  taken: () => Error,
): Promise<void> {
  const named = transaction.selectFrom("accounts").select("id").where("reference", "=", reference);
  if (reference !== null && (await hasRow(named.where("id", "<>", id)))) throw taken();
  const writing = transaction.updateTable("accounts").set({ reference }).where("id", "=", id).execute();
  await writing.catch((failure) => {
    throw failure.code === uniqueViolation ? taken() : failure;
  });
}

/** PostgreSQL's SQLSTATE for a name that another transaction took at the same time. SQLite's writers take turns. */
const uniqueViolation = "23505";
