import { toPrintable } from "@/lib/runtime/printable";

/**
 * A list whose items each make some rows as CSV (RFC 4180), page by page: first the names of the columns, which are those of
 * the first row; comma, CRLF, every cell in quotes. A cell that a spreadsheet would take for a formula begins with an
 * apostrophe (OWASP, CSV injection); a number stays one, negative or not. A time is in UTC to the second and without a zone, which
 * no spreadsheet takes. What cannot be printed, also tabs and line breaks, is replaced.
 */
export async function* csvOf<Item>(
  pages: AsyncIterable<Item[]>,
  toRows: (item: Item) => Record<string, unknown>[],
): AsyncGenerator<string> {
  let isNamed = false;
  for await (const page of pages) {
    const rows = page.flatMap(toRows);
    const names: string[][] = isNamed ? [] : rows.slice(0, 1).map(Object.keys);
    isNamed ||= names.length > 0;
    yield [...names, ...rows.map(Object.values)]
      .map((cells) => `${cells.map(toCell).join(",")}\r\n`)
      .join("");
  }
}

const formula = /^[=+\-@\ufffd\uff1d\uff0b\uff0d\uff20]/;
const number = /^-?\d+(?:\.\d+)?$/;

function toCell(value: unknown): string {
  const text = toPrintable(String(value ?? ""));
  const time = text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/, "$1 $2");
  const safe = formula.test(time) && !number.test(time) ? `'${time}` : time;
  return `"${safe.replaceAll('"', '""')}"`;
}
