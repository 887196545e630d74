import { randomUUID } from "node:crypto";
import { ApiError } from "@/lib/api/errors";
import type { Db } from "@/lib/store/store";

/** A trillion credits: the most a balance holds, so that a JSON number still tells its thousandths apart. */
export const mostThousandths = 1e15;

/** Credits as sent on the wire: a number with at most three decimal places. */
export function toCredits(thousandths: number): number {
  return thousandths / 1000;
}

/** Parses `12`, `-5` or `0.125` exactly, without going through a float. `undefined` if it is not an amount. */
export function parseThousandths(text: string): number | undefined {
  const [, sign, whole = "", decimals = ""] = /^([+-]?)(\d{1,12})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const thousandths = Number(whole + decimals.padEnd(3, "0"));
  return sign === "-" ? 0 - thousandths : thousandths;
}

/**
 * Writes an entry to an account's ledger and moves its balance, in the caller's transaction. Throws an
 * {@link ApiError} when the balance would go below 0 or above a trillion.
 *
 * @returns the new balance in thousandths
 */
export async function writeCreditEntry(
  transaction: Db,
  entry: { accountId: string; thousandths: number; reason: string },
  nowMs: number,
): Promise<number> {
  const account = await transaction
    .updateTable("accounts")
    .set((column) => ({ credit_thousandths: column("credit_thousandths", "+", entry.thousandths) }))
    .where("id", "=", entry.accountId)
    .where((column) => column("credit_thousandths", ">=", -entry.thousandths))
    .where((column) => column("credit_thousandths", "<=", mostThousandths - entry.thousandths))
    .returning("credit_thousandths")
    .executeTakeFirst();
  if (!account) {
    throw new ApiError("invalid_request", {
      message: "The balance cannot go below 0 or above 1000000000000 credits.",
      hint: "Look at the balance with 'account show', then give a smaller amount.",
    });
  }
  await transaction
    .insertInto("credit_entries")
    .values({
      id: randomUUID(),
      account_id: entry.accountId,
      thousandths: entry.thousandths,
      reason: entry.reason,
      created_at_ms: nowMs,
    })
    .execute();
  return account.credit_thousandths;
}

/** An account's ledger, oldest first. */
export async function listCreditEntries(db: Db, accountId: string) {
  const rows = await db
    .selectFrom("credit_entries")
    .select(["thousandths", "reason", "created_at_ms"])
    .where("account_id", "=", accountId)
    .orderBy("created_at_ms")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    credits: toCredits(row.thousandths),
    reason: row.reason,
    at: new Date(row.created_at_ms).toISOString(),
  }));
}
