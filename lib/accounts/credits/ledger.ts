import { randomUUID } from "node:crypto";
import { type Expression, type InferResult, type Insertable, sql } from "kysely";
import { noteBalance } from "@/lib/accounts/credits/credit-watch";
import { asIso } from "@/lib/config/instants";
import { moneyAsDecimal, moneyInWords } from "@/lib/config/money";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { paginate } from "@/lib/db/pagination";
import { listOf } from "@/lib/db/row-list";
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
 * Parses `12`, `-5` or `0.125` as people type them, exactly, without a float. `undefined` if it is no amount, exceeds the maximum
 * balance, or ends in a 0 that is the third decimal: where a point groups thousands, `1.000` and `2.500` are thousands.
 */
export function parseThousandths(text: string): number | undefined {
  if (/\.\d\d0$/.test(text)) return undefined;
  const [, sign, whole = "", decimals = ""] = /^([+-]?)(\d{1,13})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  const thousandths = Number(whole + decimals.padEnd(3, "0"));
  if (sign === undefined || thousandths > maxThousandths) return undefined;
  return sign === "-" ? 0 - thousandths : thousandths;
}

/** What an account can spend, in thousandths: its balance without what is held. */
export function spendable(account: { credit_thousandths: number; held_thousandths: number }): number {
  return account.credit_thousandths - account.held_thousandths;
}

/**
 * Adds an entry to an account's ledger and changes its balance, in the caller's transaction. Its place is after those that
 * are there, also if it waited for them or the clock went back, so a running balance never goes below 0. Throws an
 * {@link ApiError} when the balance would go below what is held, or above a trillion.
 *
 * @returns what the account can spend then, in thousandths
 */
export async function writeCreditEntry(
  transaction: Db,
  entry: Omit<Insertable<Tables["credit_entries"]>, "id" | "created_at_ms" | "place"> & { id?: string },
  nowMs: number,
): Promise<number> {
  const { rows: locked } = await lockAccounts(transaction, [entry.account_id]);
  await closeExpiredHolds(transaction, locked, nowMs);
  const account = await transaction
    .updateTable("accounts")
    .set((column) => ({ credit_thousandths: column("credit_thousandths", "+", entry.thousandths) }))
    .where("id", "=", entry.account_id)
    .where(sql<boolean>`credit_thousandths - held_thousandths >= ${-entry.thousandths}`)
    .where((column) => column("credit_thousandths", "<=", maxThousandths - entry.thousandths))
    .returning(["credit_thousandths", "held_thousandths"])
    .executeTakeFirst();
  if (!account) {
    throw new ApiError("invalid_request", {
      message: `The balance cannot go below 0 or above ${maxCredits} credits.`,
      hint: "See the balance with 'account show', which is without what is held, then use a smaller amount.",
    });
  }
  const last = await selectLedger(transaction, entry.account_id, "<").limit(1).executeTakeFirst();
  const atMs = Math.max(nowMs, last?.created_at_ms ?? 0);
  const place = last?.created_at_ms === atMs ? last.place + 1 : 0;
  await transaction
    .insertInto("credit_entries")
    .values({ id: randomUUID(), ...entry, created_at_ms: atMs, place })
    .execute();
  const after = spendable(account);
  const before = after - entry.thousandths;
  await noteBalance(transaction, entry.account_id, { before, after }, nowMs);
  return after;
}

/** Locks accounts until the end of the caller's transaction: all that write to a ledger do, and several in one order. */
export const lockAccounts = frequentStatement((db, ids: readonly string[]) =>
  db
    .selectFrom("accounts")
    .select(["id", "held_thousandths"])
    .where("id", "in", listOf(db, ids))
    .orderBy("id")
    .forUpdate(),
);

/** Closes the holds of locked accounts that have expired by `nowMs`, so that `held_thousandths` is what is held then. */
export async function closeExpiredHolds(
  transaction: Db,
  locked: Pick<Tables["accounts"], "id" | "held_thousandths">[],
  nowMs: number,
): Promise<void> {
  const holding = locked.filter(({ held_thousandths }) => held_thousandths > 0).map(({ id }) => id);
  if (holding.length === 0) return;
  const expired = await transaction
    .updateTable("holds")
    .set((hold) => ({ closed_as: "expired", closed_at_ms: hold.ref("expires_at_ms") }))
    .where("account_id", "in", listOf(transaction, holding))
    .where("closed_as", "is", null)
    .where("expires_at_ms", "<=", nowMs)
    .returning(["account_id", "thousandths"])
    .execute();
  for (const [id, holds] of Map.groupBy(expired, ({ account_id }) => account_id)) {
    const freed = holds.reduce((sum, { thousandths }) => sum + thousandths, 0);
    await transaction
      .updateTable("accounts")
      .set((column) => ({ held_thousandths: column("held_thousandths", "-", freed) }))
      .where("id", "=", id)
      .execute();
  }
}

/** Lists an account's ledger page by page, oldest entry first, with the balance after each entry. */
export async function* listCreditEntries(db: Db, accountId: string) {
  let balance = 0;
  const pages = paginate<CreditEntry>((last, limit) =>
    selectLedger(db, accountId, ">", last).limit(limit).execute(),
  );
  for await (const page of pages) {
    yield page.map(({ thousandths, reason, amount, currency, price_id: price, checkout, ...entry }) => {
      const { created_at_ms, backend_id: backend, reference } = entry;
      balance += thousandths;
      const paid = amount === null || currency === null ? null : moneyAsDecimal(amount, currency);
      const [credits, at] = [toCredits(thousandths), asIso(created_at_ms)];
      return {
        credits,
        reason,
        at,
        balance: toCredits(balance),
        paid,
        currency: currency?.toUpperCase() ?? null,
        price,
        checkout,
        backend,
        reference,
      };
    });
  }
}

/** Why an entry was made, with what was paid or returned: `bought (€10.00)`. */
export function describeReason({ reason, amount, currency }: CreditEntry): string {
  if (amount === null || currency === null) return reason;
  return `${reason} (${moneyInWords(Math.abs(amount), currency)})`;
}

export type CreditEntry = InferResult<ReturnType<typeof selectEntries>>[number];

/** The order of an account's entries: by time, at one instant as they were written. */
export type LedgerPosition = Pick<CreditEntry, "created_at_ms" | "id" | "place">;

/** The query of entries with what their lists show. */
export const selectEntries = (db: Db) =>
  db
    .selectFrom("credit_entries")
    .select(["id", "account_id", "thousandths", "reason", "created_at_ms", "place", "number", "reference"])
    .select(["amount", "currency", "price_id", "checkout", "backend_id", "hold_id", "reverses"]);

/** The query of an account's ledger: newest first (`<`) or oldest first (`>`), all of it or what follows a position. */
export function selectLedger(
  db: Db,
  accountId: string | Expression<string>,
  direction: "<" | ">",
  from?: LedgerPosition,
) {
  const order = direction === "<" ? "desc" : "asc";
  const query = selectEntries(db)
    .where("account_id", "=", accountId)
    .orderBy("created_at_ms", order)
    .orderBy("place", order)
    .orderBy("id", order);
  if (!from) return query;
  return query.where(({ eb, refTuple, tuple }) =>
    eb(refTuple("created_at_ms", "place", "id"), direction, tuple(from.created_at_ms, from.place, from.id)),
  );
}
