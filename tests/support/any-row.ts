import type { Stage } from "@/tests/support/engines";

export type Row = { [column: string]: string | number };

let inserted = 0;

/** Adds a row of a table. The other columns that it needs have the name, or a number of now; `parent` where they lead to another table. */
export async function anyRow(
  { query, environment }: Stage,
  table: string,
  given: Row,
  name = "",
): Promise<void> {
  const columns = environment.DATABASE_URL
    ? `SELECT column_name AS name, data_type AS type, is_nullable = 'NO' AS is_needed, column_default AS given
       FROM information_schema.columns WHERE table_name = '${table}' AND is_identity = 'NO'`
    : `SELECT name, type, ("notnull" OR pk) AS is_needed, dflt_value AS given FROM pragma_table_info('${table}')`;
  const row: Row = {};
  for (const column of await query(columns)) {
    const [key, isText] = [String(column.name), /text/i.test(String(column.type))];
    if (column.is_needed && column.given === null && key !== "seq")
      row[key] = isText ? name || "parent" : Date.now() + ++inserted;
    if (["account_id", "webhook_id", "operator_id"].includes(key)) row[key] = "parent";
  }
  if (table === "events") row.account_id = name; // so that each has a counter of its own
  Object.assign(row, given);
  const values = Object.values(row).map((value) => (typeof value === "number" ? value : `'${value}'`));
  const overriding = environment.DATABASE_URL && "seq" in row ? "OVERRIDING SYSTEM VALUE" : "";
  const names = Object.keys(row).map((key) => `"${key}"`);
  await query(`INSERT INTO ${table} (${names}) ${overriding} VALUES (${values}) RETURNING ${names[0]}`);
}
