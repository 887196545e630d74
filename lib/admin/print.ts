import { once } from "node:events";
import { asInstant } from "@/lib/config/instants";
import { csvOf } from "@/lib/runtime/csv";
import { arrayInParts, isInParts, toJson } from "@/lib/runtime/json-text";
import { toPrintable } from "@/lib/runtime/printable";

/**
 * The output of a command: JSON for `--json`, and text for people, who get JSON in parts as well. One of a failure ends the
 * command with 1.
 */
export type Result<Json = unknown> = { json: Json; text: string; isFailure?: boolean };

/** A list that is printed while it is read, for people as a table. */
export type Listing = {
  pages: AsyncIterable<Row[]>;
  /** The row of an item, where it is not the item itself. Called before the next page is read. */
  toRow?(item: Row): Row;
  whenEmpty: string;
  /** Prints CSV for people, too. */
  asCsv?: true | undefined;
  after?: () => string | undefined;
};

type Row = Record<string, unknown>;

/** Prints a result or a listing to standard output. */
export async function print(output: Result | Listing, asJson: boolean): Promise<void> {
  if (!("pages" in output)) {
    if (output.isFailure) process.exitCode = 1;
    if (isInParts<string>(output.json)) await writeAll(output.json);
    else await write(`${asJson ? toJson(output.json) : toPrintableLines(output.text)}\n`);
  } else if (asJson) await writeAll(arrayInParts(output.pages), "\n");
  else if (output.asCsv) await writeAll(csvOf(output.pages, (row) => [row]));
  else await printTable(output);
}

async function writeAll(parts: AsyncIterable<string>, end = ""): Promise<void> {
  for await (const part of parts) await write(part);
  await write(end);
}

async function printTable({ pages, toRow = (item) => item, whenEmpty, after }: Listing): Promise<void> {
  let widths: number[] | undefined;
  for await (const page of pages) {
    if (page.length === 0) continue;
    const rows = page.map(toRow);
    const head = widths ? [] : [namesOf(rows)];
    const lines = [...head, ...rows.map(cellsOf)];
    widths = widthsOf(lines, widths);
    await write(`${layOut(lines, widths)}\n`);
  }
  if (!widths) return write(`${whenEmpty}\n`);
  const more = after?.();
  if (more) await write(`${toPrintable(more)}\n`);
}

/** Waits for a slow reader; a reader that has gone, such as `head`, ends the process (see `main.ts`). */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

const toPrintableLines = (text: string) => text.split("\n").map(toPrintable).join("\n");

/** Formats an object as `name: value` lines. */
export function asLines(fields: Row): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${asCell(value)}`)
    .join("\n");
}

/** Formats rows as a table with a header, which names the fields of the first one, or a sentence if there are none. */
export function asTable(rows: Row[], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty;
  const lines = [namesOf(rows), ...rows.map(cellsOf)];
  return layOut(lines, widthsOf(lines));
}

const namesOf = ([first = {}]: Row[]) => Object.keys(first);
const cellsOf = (row: Row) => Object.values(row).map(asCell);

/** A time shows its distance from now, too. */
function asCell(value: unknown): string {
  const text = String(value ?? "-");
  return toPrintable(isoInstant.test(text) ? String(asInstant(Date.parse(text), Date.now())) : text);
}

const isoInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function widthsOf(lines: string[][], atLeast: number[] = []): number[] {
  const [first = []] = lines;
  return first.map((_, column) =>
    Math.max(atLeast[column] ?? 0, ...lines.map((line) => line[column]?.length ?? 0)),
  );
}

function layOut(lines: string[][], widths: number[]): string {
  const layLine = (line: string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return lines.map((line) => layLine(line).trimEnd()).join("\n");
}
