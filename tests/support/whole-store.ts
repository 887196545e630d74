import type { Stage } from "@/tests/support/engines";
import { forOthers } from "@/tests/support/standing-by";
import { listTables, quote, type Rows } from "@/tests/support/stores";

/* All rows of a store: to say what an act has changed of them, and to make them again what they were. */

/** Its rows, by table. */
export type WholeStore = Map<string, Rows>;

/** What the service notes at times of its own, and what mails wait: the mails themselves are compared. */
const notCompared =
  /^(hook_deliveries|status_outages|billing_progress|sign_in_mails|sign_in_mail_attempts|kysely_migration|sqlite_sequence)$/;
/** How far the service has numbered. */
const isNumbering = /^(event_numbers|event_counters|ledger_numbers)$/;
/** What triggers write. */
const isWritten = (table: string) => /^(events?_|events$|webhook_deliveries)/.test(table);

/** Reads all rows but those of who stands by. */
export async function readWhole(stage: Stage): Promise<WholeStore> {
  const tables = (await listTables(stage)).filter((table) => !notCompared.test(table)).sort();
  const rows = await stage.queryAll(tables.map((table) => `SELECT * FROM ${table}`));
  return new Map(tables.map((table, at) => [table, rows[at] ?? []]));
}

/** Makes all rows of the embedded store what they were: last those that triggers write. */
export async function restoreWhole({ change }: Stage, was: WholeStore): Promise<void> {
  const tables = [...was.keys()];
  const written = tables.filter(isWritten);
  const insert = (table: string) =>
    (was.get(table) ?? []).map((row) => {
      const names = Object.keys(row).map((name) => `"${name}"`);
      return `INSERT INTO ${table} (${names}) VALUES (${Object.values(row).map(quote)})`;
    });
  const statements = [
    "PRAGMA defer_foreign_keys = ON",
    ...tables.map((table) => forOthers(`DELETE FROM ${table}`)),
    ...tables.filter((table) => !isWritten(table)).flatMap(insert),
    ...written.map((table) => forOthers(`DELETE FROM ${table}`)),
    ...written.flatMap(insert),
  ];
  await (await change(statements.join(";\n")))();
}

/** What an act has changed, in lines. What is random has the place where it was first, or is `…` if it is new. */
export function describeChanges(was: WholeStore, is: WholeStore, names: Names): string[] {
  return [...was].flatMap(([table, before]) => {
    if (isNumbering.test(table)) return [];
    const after = is.get(table) ?? [];
    const gone = without(before, after);
    const lines: string[] = [];
    for (const row of without(after, before)) {
      const [key = ""] = "id" in row ? ["id"] : Object.keys(row);
      const at = gone.findIndex((other) => other[key] === row[key]);
      const [former = {}] = at < 0 ? [] : gone.splice(at, 1);
      const fields = Object.entries(row)
        .filter(([name, value]) => value !== (former[name] ?? null))
        // By the store's own clock, and what the service numbers at times of its own.
        .filter(([name]) => !(isWritten(table) && /^(at_ms|seq)$/.test(name)) && name !== "number")
        // Each try has browsers at new addresses.
        .filter(([name]) => name !== "renewed_from");
      if (fields.length === 0) continue;
      const words = fields.map(([name, value]) => {
        const [then, now] = [describeValue(name, former[name], names), describeValue(name, value, names)];
        return at < 0 ? `${name}: ${now}` : `${name}: ${then} → ${now}`;
      });
      lines.push(
        `${at < 0 ? `+ ${table}` : `${table} ${names.in(String(row[key]))}`}\n  ${words.sort().join("\n  ")}`,
      );
    }
    for (const row of gone) lines.push(`- ${table} ${names.in(String(Object.values(row)[0]))}`);
    return lines.sort();
  });
}

function without(rows: Rows, others: Rows): Rows {
  const known = new Set(others.map((row) => JSON.stringify(row)));
  return rows.filter((row) => !known.has(JSON.stringify(row)));
}

function describeValue(name: string, value: unknown, names: Names): string {
  if (value === null || value === undefined) return "none";
  const number = Number(value);
  if (name.endsWith("_ms") && Number.isSafeInteger(number) && number > 1e12)
    return new Date(number).toISOString();
  return names.in(String(value));
}

/** What each random text of a store is called: by its first place in it. */
export class Names {
  private readonly known = new Map<string, string>();

  constructor(whole: WholeStore) {
    for (const [table, rows] of whole)
      for (const [at, row] of rows.entries())
        for (const [column, value] of Object.entries(row))
          if (typeof value === "string" && isRandom(value) && !this.known.has(value))
            this.known.set(value, `‹${table} ${at + 1} ${column}›`);
  }

  /** A text with these names in it. */
  in(text: string): string {
    return text
      .replaceAll("%40", "@")
      .replaceAll(/[\w@.+~-]{7,}/g, (word) => this.known.get(word) ?? word.replaceAll(unknown, "…"))
      .replaceAll(/127\.\d+\.\d+\.\d+\/24/g, "…")
      .replaceAll(/(?<="recheckAfterSeconds":)\d+/g, "…")
      .replaceAll(/(?<=\brequest=)[\w-]+/g, "…")
      .replaceAll(/(?<=localhost:)\d{4,5}\b/g, "…");
  }
}

const isRandom = (value: string) => /^[\w@.+~-]{7,}$/.test(value) && /\d|@|\w{16}/.test(value);
const unknown = /\b(?:ch|cs|cus|evt|in|pi|re|sub)_\w+|(?=[\w-]*\d)[\w-]{16,}|(?=[\w-]*[\dA-Z])[\w-]{21,}/g;
