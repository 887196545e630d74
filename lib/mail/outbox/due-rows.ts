import { type Selectable, type SelectQueryBuilder, sql, type UpdateObject } from "kysely";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** Reads which rows are due, from the store or from the transaction that changes them. */
export type Due<Table extends keyof Tables> = SelectQueryBuilder<Tables, Table, { id: string }>;

/**
 * Whether a row is of one of these kinds. A newer build that runs at the same time, or ran before, may have written others: they
 * are left for it as they are. `case` hides the kinds from PostgreSQL's planner, which would take each one for rare and sort
 * all due rows instead of reading the index in order.
 */
export const isOfKind = (kinds: readonly string[]) =>
  sql<boolean>`case when kind in (${sql.join(kinds)}) then 1 else 0 end > 0`;

/**
 * Changes up to `limit` due rows and returns them; `undefined` if none is due. Rows that another process is changing are
 * left out, so each is taken once.
 */
export async function takeDueRows<Table extends keyof Tables>(
  db: Db,
  table: Table,
  { due, limit, change }: { due: Due<Table>; limit: number; change: UpdateObject<Tables, Table> },
): Promise<Selectable<Tables[Table]>[] | undefined> {
  // Checked without a lock first, because usually nothing is due.
  if (!(await hasRow(due.limit(1)))) return undefined;
  const rows = await db
    .with("next", () => due.limit(limit).forUpdate().skipLocked())
    .updateTable(table as "accounts")
    .set(change as object)
    .where("id", "in", (query) => query.selectFrom("next").select("id"))
    .returningAll()
    .execute();
  return rows as never;
}
