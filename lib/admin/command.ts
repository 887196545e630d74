import { InvalidArgumentError } from "commander";
import { z } from "zod";
import { parseEmailAddress } from "@/lib/accounts/email-address";
import { parseThousandths } from "@/lib/accounts/ledger";
import type { Db } from "@/lib/store/store";

/** What a command has to say: a document for `--json`, and the same for a person. */
export type Result = { json: unknown; text: string };

/** Wraps a command that works on the store: opens it, prints the result. What it throws ends the process. */
export type Run = <Args extends unknown[]>(
  work: (db: Db, ...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<void>;

/** An object as `name: value` lines. */
export function asLines(fields: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${value ?? "-"}`)
    .join("\n");
}

/** Rows as columns, with their names above; a sentence when there are none. */
export function asTable(rows: Record<string, unknown>[], whenEmpty: string): string {
  const names = Object.keys(rows[0] ?? {});
  if (names.length === 0) return whenEmpty;
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "-")))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/* Parsers of arguments and options. Each throws commander's InvalidArgumentError, one line for a person. */

export function parseEmail(text: string): string {
  const email = parseEmailAddress(text);
  if (!email) throw new InvalidArgumentError("It is not an email address.");
  return email;
}

/** An ISO 8601 date or date and time with its offset, as Unix milliseconds. */
export function parseInstant(text: string): number {
  if (!z.union([z.iso.datetime({ offset: true }), z.iso.date()]).safeParse(text).success) {
    throw new InvalidArgumentError("Write it like 2027-01-31 or 2027-01-31T09:00:00Z.");
  }
  return Date.parse(text);
}

export function parseWholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 0 to 999999.");
  return Number(text);
}

/** An amount of credits in thousandths; a negative one takes away. */
export function parseAmount(text: string): number {
  const thousandths = parseThousandths(text);
  if (thousandths === undefined || thousandths === 0) {
    throw new InvalidArgumentError("It must be a number other than 0, with at most three decimals.");
  }
  return thousandths;
}

/** A balance in thousandths. */
export function parseBalance(text: string): number {
  const thousandths = parseThousandths(text);
  if (thousandths === undefined || thousandths < 0) {
    throw new InvalidArgumentError("It must be a number of 0 or more, with at most three decimals.");
  }
  return thousandths;
}

/** Words on one line, shown to people. */
export function parseWords(text: string): string {
  const words = text.trim();
  if (words === "" || words.length > 500 || /\p{Cc}/u.test(words)) {
    throw new InvalidArgumentError("It must be one line of 1 to 500 characters.");
  }
  return words;
}

export function parseSubject(text: string): string {
  if (!/^user_\w{1,64}$/.test(text)) throw new InvalidArgumentError("It must be a user id like user_2abc.");
  return text;
}
