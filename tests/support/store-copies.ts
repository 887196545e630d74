import type { OpenStore, Rows } from "@/tests/support/stores";

/** Those of accounts and of what they buy, each after those that its rows name. */
const tables = [
  "accounts",
  "credit_entries",
  "credit_months",
  "audit_entries",
  "billing_customers",
  "billing_subscriptions",
  "billing_checkouts",
  "billing_payments",
  "billing_licence_prices",
  "billing_unclaimed",
  "billing_progress",
];

const rowsAtOnce = 200;

/** Copies the accounts and their purchases, as a backup has them. */
export function copyStore({ query }: OpenStore): Promise<Rows[]> {
  return Promise.all(tables.map((table) => query(`SELECT * FROM ${table}`)));
}

/** Replaces the accounts and their purchases by a copy, as a restore does. */
export async function replaceStore({ query }: OpenStore, copy: Rows[]): Promise<void> {
  for (const table of tables.toReversed()) await query(`DELETE FROM ${table}`);
  for (const [at, table] of tables.entries()) {
    const rows = copy[at] ?? [];
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce);
      const values = some.map((row) => `(${Object.values(row).map(quote).join(", ")})`).join(", ");
      await query(`INSERT INTO ${table} (${Object.keys(some[0] ?? {}).join(", ")}) VALUES ${values}`);
    }
  }
}

function quote(value: unknown): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
