import { InsertQueryNode, type Kysely, type KyselyPlugin } from "kysely";
import { type Columns, rejectUnaudited, updatesOnly } from "@/lib/db/audit";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";

/** What it may update next to what needs no audit entry, and the table whose rows it may add. */
const columns: Columns = {
  accounts: ["credit_thousandths", "held_thousandths"],
  credit_entries: ["reversed_thousandths", "number"],
  credit_limits: ["month_ms", "spent_thousandths", "low_since_ms", "top_up_due_ms"],
};
const ledger = "credit_entries";

/**
 * Runs what a backend spends, holds or gives back, in one transaction. The ledger is its record: each entry says which
 * backend wrote it, when and why, and stays longer than the audit would. Nothing else can be written in it.
 */
export function ledgerTransaction<T>(
  db: Kysely<Tables>,
  work: (transaction: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return transact(db, (guarded) => work(guarded.withoutPlugins().withPlugin(rejectOthers)));
}

/** Rejects what is not the ledger's. */
const rejectOthers: KyselyPlugin = {
  ...rejectUnaudited,
  transformQuery({ node, queryId }) {
    const isEntry = InsertQueryNode.is(node) && node.into?.table.identifier.name === ledger;
    if (isEntry || updatesOnly(node, columns)) return node;
    return rejectUnaudited.transformQuery({ node, queryId });
  },
};
