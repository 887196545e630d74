import { forOthers } from "@/tests/support/standing-by";
import { type OpenStore, quote, type Rows } from "@/tests/support/stores";

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

/** Replaces the accounts and their purchases by a copy, as a restore does: a service that runs sees no half of it. */
export async function replaceStore({ environment, change }: OpenStore, copy: Rows[]): Promise<void> {
  const inserts = tables.flatMap((table, at) => {
    const rows = copy[at] ?? [];
    return Array.from({ length: Math.ceil(rows.length / rowsAtOnce) }, (_, group) => {
      const some = rows.slice(group * rowsAtOnce, (group + 1) * rowsAtOnce);
      const values = some.map((row) => `(${Object.values(row).map(quote).join(", ")})`).join(", ");
      return `INSERT INTO ${table} (${Object.keys(some[0] ?? {}).join(", ")}) VALUES ${values}`;
    });
  });
  const commit = await change(
    [
      ...(environment.DATABASE_URL ? [`LOCK TABLE ${tables.join(", ")}`] : []),
      ...tables.toReversed().map((table) => forOthers(`DELETE FROM ${table}`)),
      ...inserts,
    ].join(";\n"),
  );
  await commit();
}
