import type { ExpressionBuilder } from "kysely";
import { limitColumns } from "@/lib/accounts/credits/credit-watch";
import type { AccountState, EntryRow, HoldRow, LedgerDraft } from "@/lib/backend/credit-rules";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { selectLists } from "@/lib/db/read-in-one-query";
import { listOf, rowsOf, typesOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/* A draft of the ledger in the store: one statement reads it, and one a table writes it. */

const keyTypes = { backend: "text", keyHash: "text" } as const;
const accountTypes = {
  ...typesOf("accounts", ["id", "credit_thousandths", "held_thousandths"]),
  ...typesOf("credit_limits", limitColumns),
  last_at_ms: "bigint",
  last_place: "bigint",
} as const;
const entryTypes = typesOf("credit_entries");
const holdTypes = typesOf("holds");
const namesOf = <Types extends object>(types: Types) => Object.keys(types) as (keyof Types & string)[];
const entryColumns = namesOf(entryTypes);
const holdColumns = namesOf(holdTypes);
/** What a draft is made from, and what was answered to the keys before: a query. */
export const readStates = frequentStatement(
  (
    db,
    accountIds: readonly string[],
    holdIds: readonly string[],
    entryIds: readonly string[],
    keys: readonly Record<keyof typeof keyTypes, string>[],
  ) => {
    const last = ({ selectFrom }: ExpressionBuilder<Tables, "accounts">, column: "created_at_ms" | "place") =>
      selectFrom("credit_entries")
        .select(column)
        .whereRef("account_id", "=", "accounts.id")
        .orderBy("created_at_ms", "desc")
        .orderBy("place", "desc")
        .limit(1);
    return selectLists(db, {
      accounts: db
        .selectFrom("accounts")
        .leftJoin("credit_limits", "credit_limits.account_id", "accounts.id")
        .select(["id", "credit_thousandths", "held_thousandths", ...limitColumns])
        .select((eb) => [last(eb, "created_at_ms").as("last_at_ms"), last(eb, "place").as("last_place")])
        .where("id", "in", listOf(db, accountIds)),
      holds: db.selectFrom("holds").select(holdColumns).where("id", "in", listOf(db, holdIds)),
      entries: db.selectFrom("credit_entries").select(entryColumns).where("id", "in", listOf(db, entryIds)),
      kept: db
        .selectFrom(rowsOf(db, keys, keyTypes))
        .innerJoin("backend_writes as kept", (join) =>
          join.onRef("kept.backend_id", "=", "rows.backend").onRef("kept.key_hash", "=", "rows.keyHash"),
        )
        .select(["kept.backend_id", "kept.key_hash", "kept.body_digest", "kept.answer"])
        .select(["kept.account_id", "kept.written_at_ms"]),
    });
  },
);

/** Stores what has changed of a draft, in one statement a table. */
export async function storeDraft(transaction: Db, draft: LedgerDraft): Promise<void> {
  const changed = [...draft.changed];
  const accounts = changed.filter((row): row is AccountState => draft.accounts.has(row.id));
  const holds = changed.filter((row): row is HoldRow => draft.holds.has(row.id));
  const entries = changed.filter((row): row is EntryRow => draft.entries.has(row.id));
  const limited = accounts.filter(({ month_ms }) => month_ms !== null);
  if (limited.length > 0) await updateLimits(transaction, limited);
  if (accounts.length > 0) await updateAccounts(transaction, accounts);
  if (entries.length > 0) await updateEntries(transaction, entries);
  if (holds.length > 0) await updateHolds(transaction, holds);
  if (draft.newEntries.length > 0) await insertEntries(transaction, draft.newEntries);
  if (draft.newHolds.length > 0) await insertHolds(transaction, draft.newHolds);
}

const updateLimits = frequentStatement((db, rows: readonly AccountState[]) =>
  db
    .updateTable("credit_limits")
    .from(rowsOf(db, rows, accountTypes))
    .set(({ ref }) => ({
      month_ms: ref("rows.month_ms").$notNull(),
      spent_thousandths: ref("rows.spent_thousandths").$notNull(),
      low_since_ms: ref("rows.low_since_ms"),
      top_up_due_ms: ref("rows.top_up_due_ms"),
    }))
    .whereRef("credit_limits.account_id", "=", "rows.id"),
);
const updateAccounts = frequentStatement((db, rows: readonly AccountState[]) =>
  db
    .updateTable("accounts")
    .from(rowsOf(db, rows, accountTypes))
    .set(({ ref }) => ({
      credit_thousandths: ref("rows.credit_thousandths"),
      held_thousandths: ref("rows.held_thousandths"),
    }))
    .whereRef("accounts.id", "=", "rows.id"),
);
const updateEntries = frequentStatement((db, rows: readonly EntryRow[]) =>
  db
    .updateTable("credit_entries")
    .from(rowsOf(db, rows, entryTypes))
    .set(({ ref }) => ({ reversed_thousandths: ref("rows.reversed_thousandths") }))
    .whereRef("credit_entries.id", "=", "rows.id"),
);
const updateHolds = frequentStatement((db, rows: readonly HoldRow[]) =>
  db
    .updateTable("holds")
    .from(rowsOf(db, rows, holdTypes))
    .set(({ ref }) => ({
      closed_as: ref("rows.closed_as"),
      closed_at_ms: ref("rows.closed_at_ms"),
      entry_id: ref("rows.entry_id"),
    }))
    .whereRef("holds.id", "=", "rows.id"),
);
const insertEntries = frequentStatement((db, rows: readonly EntryRow[]) =>
  db
    .insertInto("credit_entries")
    .columns(entryColumns)
    .expression(db.selectFrom(rowsOf(db, rows, entryTypes)).select(entryColumns)),
);
const insertHolds = frequentStatement((db, rows: readonly HoldRow[]) =>
  db
    .insertInto("holds")
    .columns(holdColumns)
    .expression(db.selectFrom(rowsOf(db, rows, holdTypes)).select(holdColumns)),
);
