import { randomUUID } from "node:crypto";
import type { Expression, InferResult, Insertable } from "kysely";
import { toFields } from "@/lib/config/instants";
import { moneyAsDecimal, moneyInWords } from "@/lib/config/money";
import { paginate } from "@/lib/db/pagination";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";

/** The maximum balance, a trillion: a JSON number can still represent its thousandths. */
export const maxCredits = 1e12;
export const maxThousandths = maxCredits * 1000;

/** Converts to credits as sent in JSON: a number with at most three decimal places. */
export function toCredits(thousandths: number): number {
  return thousandths / 1000;
}

/**
 * Parses `12`, `-5` or `0.125` exactly, without a float. `undefined` if it is not an amount, or exceeds the maximum
 * balance.
 */
export function parseThousandths(text: string): number | undefined {
  const [, sign, whole = "", decimals = ""] = /^([+-]?)(\d{1,13})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  const thousandths = Number(whole + decimals.padEnd(3, "0"));
  if (sign === undefined || thousandths > maxThousandths) return undefined;
  return sign === "-" ? 0 - thousandths : thousandths;
}

/**
 * Adds an entry to an account's ledger and changes its balance, in the caller's transaction. Its place is after those that
 * are there, also if it waited for them or the clock went back, so a running balance never goes below 0. Throws an
 * {@link ApiError} when the balance would go below 0 or above a trillion.
 *
 * @returns the new balance in thousandths
 */
export async function writeCreditEntry(
  transaction: Db,
  entry: Omit<Insertable<Tables["credit_entries"]>, "id" | "created_at_ms" | "place">,
  nowMs: number,
): Promise<number> {
  const account = await transaction
    .updateTable("accounts")
    .set((column) => ({ credit_thousandths: column("credit_thousandths", "+", entry.thousandths) }))
    .where("id", "=", entry.account_id)
    .where((column) => column("credit_thousandths", ">=", -entry.thousandths))
    .where((column) => column("credit_thousandths", "<=", maxThousandths - entry.thousandths))
    .returning("credit_thousandths")
    .executeTakeFirst();
  if (!account) {
    throw new ApiError("invalid_request", {
      message: `The balance cannot go below 0 or above ${maxCredits} credits.`,
      hint: "See the balance with 'account show', then use a smaller amount.",
    });
  }
  const last = await selectLedger(transaction, entry.account_id, "<").limit(1).executeTakeFirst();
  const atMs = Math.max(nowMs, last?.atMs ?? 0);
  const place = last?.atMs === atMs ? last.place + 1 : 0;
  await transaction
    .insertInto("credit_entries")
    .values({ id: randomUUID(), ...entry, created_at_ms: atMs, place })
    .execute();
  return account.credit_thousandths;
}

/** Lists an account's ledger page by page, oldest entry first, with the balance after each entry. */
export async function* listCreditEntries(db: Db, accountId: string) {
  let balance = 0;
  const pages = paginate<CreditEntry>((last, limit) =>
    selectLedger(db, accountId, ">", last).limit(limit).execute(),
  );
  for await (const page of pages) {
    yield page.map(({ thousandths, reason, atMs, amount, currency, price_id: price, checkout }) => {
      balance += thousandths;
      const paid = amount === null || currency === null ? null : moneyAsDecimal(amount, currency);
      return toFields({
        ...{ credits: toCredits(thousandths), reason, atMs, balance: toCredits(balance) },
        ...{ paid, currency: currency?.toUpperCase() ?? null, price, checkout },
      });
    });
  }
}

/** Why an entry was made, with what was paid or returned: `bought (€10.00)`. */
export function describeReason({ reason, amount, currency }: CreditEntry): string {
  if (amount === null || currency === null) return reason;
  return `${reason} (${moneyInWords(Math.abs(amount), currency)})`;
}

export type CreditEntry = InferResult<ReturnType<typeof selectLedger>>[number];

/** The order of an account's entries: by time, at one instant as they were written. */
export type LedgerPosition = { atMs: number; place: number; id: string };

/**
 * The query of an account's ledger: the latest entries or those before another, newest first (`<`), or the first or those
 * after another, oldest first (`>`).
 */
export function selectLedger(
  db: Db,
  accountId: string | Expression<string>,
  direction: "<" | ">",
  from?: LedgerPosition,
) {
  const order = direction === "<" ? "desc" : "asc";
  const query = db
    .selectFrom("credit_entries")
    .select(["id", "thousandths", "reason", "created_at_ms as atMs", "place"])
    .select(["amount", "currency", "price_id", "checkout"])
    .where("account_id", "=", accountId)
    .orderBy("created_at_ms", order)
    .orderBy("place", order)
    .orderBy("id", order);
  if (!from) return query;
  return query.where(({ eb, refTuple, tuple }) =>
    eb(refTuple("created_at_ms", "place", "id"), direction, tuple(from.atMs, from.place, from.id)),
  );
}
