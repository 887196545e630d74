import { toPrintable } from "@/lib/runtime/printable";

/**
 * Rows as CSV (RFC 4180): comma, CRLF, every cell in quotes. A cell that a spreadsheet would take for a formula begins with an
 * apostrophe (OWASP, CSV injection); a number stays one, negative or not. What cannot be printed, also tabs and line breaks, is
 * replaced.
 *
 * @param withHeader - whether the names of the columns, which are those of the first row, come first
 */
export function toCsv(rows: Record<string, unknown>[], withHeader = true): string {
  const [first] = rows;
  const lines = [...(first && withHeader ? [Object.keys(first)] : []), ...rows.map(Object.values)];
  return lines.map((cells) => `${cells.map(toCell).join(",")}\r\n`).join("");
}

/** A whole list as CSV, whose items each make some rows. */
export async function csvOf<Item>(
  pages: AsyncIterable<Item[]>,
  toRows: (item: Item) => Record<string, unknown>[],
): Promise<string> {
  let text = "";
  for await (const page of pages) text += toCsv(page.flatMap(toRows), text === "");
  return text;
}

const formula = /^[=+\-@\ufffd\uff1d\uff0b\uff0d\uff20]/;
const number = /^-?\d+(?:\.\d+)?$/;

function toCell(value: unknown): string {
  const text = toPrintable(String(value ?? ""));
  const safe = formula.test(text) && !number.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
