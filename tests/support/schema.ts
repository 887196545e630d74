import type { OpenStore } from "@/tests/support/stores";

/** What a store's schema says, line by line, whatever the order in which it was made. */
export async function readSchema({ environment, query }: OpenStore): Promise<string[]> {
  const lines = environment.DATABASE_URL
    ? (await Promise.all(ofPostgres.map((statement) => query(statement)))).flat()
    : (await query("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")).flatMap(partsOf);
  return lines.map(({ line }) => String(line).replace(/\s+/g, " ")).sort();
}

const ofPostgres = [
  `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, is_identity, column_default) AS line
    FROM information_schema.columns WHERE table_schema = 'public'`,
  `SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'p', 'u')`,
  "SELECT indexdef AS line FROM pg_indexes WHERE schemaname = 'public'",
  "SELECT pg_get_triggerdef(oid) AS line FROM pg_trigger WHERE NOT tgisinternal",
  "SELECT pg_get_functiondef(oid) AS line FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
];

/** SQLite keeps the words of a schema: a table's are taken column by column, with its constraints. */
function partsOf({ type, name, sql }: Record<string, unknown>): { line: string }[] {
  const words = String(sql)
    .replace(/\s+/g, " ")
    .replace(/ ?([(),]) ?/g, "$1");
  if (type !== "table") return [{ line: words }];
  const body = words.slice(words.indexOf("(") + 1, words.lastIndexOf(")"));
  // A comma inside of brackets separates no columns.
  return body.split(/,(?![^(]*\))/).map((part) => ({ line: `${name}: ${part}` }));
}
