import { type CreditEntry, selectEntries, selectLedger, toCredits } from "@/lib/accounts/credits/ledger";
import { Refusal } from "@/lib/backend/refusals";
import { asIso } from "@/lib/config/instants";
import { ledgerTransaction } from "@/lib/db/ledger-transaction";
import { rowsOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";

/** A page of entries, oldest first, and where the next one begins: also at the end, where later ones will be. */
export type EntryPage = { entries: ReturnType<typeof describeEntry>[]; next: string | null };

/**
 * The entries of an account after the one with this id, in the order in which they changed its balance. Throws a
 * {@link Refusal} if it has no entry `after`.
 */
export async function listAccountEntries(
  db: Db,
  accountId: string,
  after: string | undefined,
  limit: number,
): Promise<EntryPage> {
  const from =
    after === undefined
      ? undefined
      : await selectLedger(db, accountId, ">").where("id", "=", after).executeTakeFirst();
  if (after !== undefined && !from) throw new Refusal("entry_not_found");
  return toPage(await selectLedger(db, accountId, ">", from).limit(limit).execute(), after);
}

/**
 * The entries of all accounts after the one with this id. Every entry comes once: those of
 * an account in its order, and none before one that was listed earlier, although transactions end in any order. So entries
 * are numbered here, once they are all visible, and not when they are written. Throws a {@link Refusal} if there is no entry
 * `after`: a store that was restored may have others.
 */
export async function listAllEntries(db: Db, after: string | undefined, limit: number): Promise<EntryPage> {
  const from = await readNumber(db, after);
  const read = () => selectEntries(db).where("number", ">", from).orderBy("number").limit(limit).execute();
  let rows = await read();
  if (rows.length < limit && (await numberEntries(db, limit - rows.length)) > 0) rows = await read();
  return toPage(rows, after);
}

/** The number of an entry, by its id or by the number itself, which builds until November 2026 gave as `next`; 0 before the first. */
async function readNumber(db: Db, after = "0"): Promise<number> {
  const number = /^\d{1,15}$/.test(after) ? Number(after) : undefined;
  if (number === 0) return 0;
  const entries = db.selectFrom("credit_entries").select("number");
  const named = number ? entries.where("number", "=", number) : entries.where("id", "=", after);
  const row = await named.executeTakeFirst();
  if (row?.number == null) throw new Refusal("entry_not_found");
  return row.number;
}

/** Numbers the oldest entries that have no number. Returns how many it has numbered. */
async function numberEntries(db: Db, most: number): Promise<number> {
  const unnumbered = (from: Db) =>
    from
      .selectFrom("credit_entries")
      .select("id")
      .where("number", "is", null)
      .orderBy("created_at_ms")
      .orderBy("account_id")
      .orderBy("place")
      .orderBy("id")
      .limit(most);
  if (!(await unnumbered(db).limit(1).executeTakeFirst())) return 0;
  return ledgerTransaction(db, async (transaction) => {
    const numbers = transaction.selectFrom("ledger_numbers").select("last").where("id", "=", 1).forUpdate();
    const { last } = await numbers.executeTakeFirstOrThrow();
    const rows = (await unnumbered(transaction).execute()).map(({ id }, at) => ({
      id,
      number: last + at + 1,
    }));
    if (rows.length === 0) return 0;
    await transaction
      .updateTable("credit_entries")
      .from(rowsOf(transaction, rows, { id: "text", number: "bigint" }))
      .set(({ ref }) => ({ number: ref("rows.number") }))
      .whereRef("credit_entries.id", "=", "rows.id")
      .execute();
    await transaction
      .updateTable("ledger_numbers")
      .set({ last: last + rows.length })
      .where("id", "=", 1)
      .execute();
    return rows.length;
  });
}

const toPage = (rows: CreditEntry[], after: string | undefined): EntryPage => ({
  entries: rows.map(describeEntry),
  next: rows.at(-1)?.id ?? after ?? null,
});

const describeEntry = ({ id, account_id, thousandths, created_at_ms, reason, ...entry }: CreditEntry) => ({
  id,
  account: account_id,
  credits: toCredits(thousandths),
  reason,
  reference: entry.reference,
  backend: entry.backend_id,
  hold: entry.hold_id,
  reverses: entry.reverses,
  createdAt: asIso(created_at_ms),
});
