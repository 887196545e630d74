import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Command, InvalidArgumentError } from "commander";
import * as z from "zod";
import { isInstant } from "@/lib/accounts/account";
import { maxCredits, parseThousandths } from "@/lib/accounts/ledger";
import { type Listing, print, type Result } from "@/lib/admin/print";
import { type Db, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { parseEmailAddress } from "@/lib/mail/email-address";
import { operatorName } from "@/lib/office/operators";
import { toPrintable } from "@/lib/runtime/printable";

type Call = { db: Db; confirm: Confirm };

/**
 * Says what a command will do and asks for it, or does not ask with `--yes`. Throws an {@link ApiError} without a yes,
 * and where there is no terminal to ask at.
 */
type Confirm = (consequence: string) => Promise<void>;

/** A command of the operator, or a group of them. */
export class AdminCommand extends Command {
  override createCommand(name?: string): AdminCommand {
    return new AdminCommand(name);
  }

  /**
   * Adds a command: its name with its arguments, each of which is parsed by its name, and what it does.
   *
   * @param examples - for its help; by default one, with the usual arguments. `tests/lib/admin/main.test.ts` runs each
   */
  add(usage: string, description: string, ...examples: string[]): AdminCommand {
    const command = this.command(usage).description(description);
    for (const argument of command.registeredArguments) {
      const { parse } = knownArguments[argument.name()] ?? {};
      if (parse) argument.argParser(parse);
    }
    const usual = usage.replace(/[<[](\w+)[>\]]/g, (_, name) => knownArguments[name]?.example ?? "");
    if (examples.length === 0) examples.push(this.parent ? `${this.name()} ${usual}` : usual);
    const lines = examples.map((example) => `  npm run -s admin -- ${example.trim()}`);
    return command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
  }

  /** What the command does with the store. Its result is printed, and an exception ends the process. */
  does<Args extends unknown[]>(work: (call: Call, ...args: Args) => Promise<Result | Listing>): this {
    return this.doesWithoutStore(async (confirm, ...args: Args) =>
      work({ db: await store(), confirm }, ...args),
    );
  }

  /** The same, for a command that opens the store itself or does not use it. */
  doesWithoutStore<Args extends unknown[]>(
    work: (confirm: Confirm, ...args: Args) => Promise<Result | Listing | undefined>,
  ): this {
    return this.action(async (...args) => {
      const { json, yes } = this.optsWithGlobals();
      const output = await work(yes ? async () => {} : askToConfirm, ...(args as unknown as Args));
      if (output) await print(output, json === true);
    });
  }
}

async function askToConfirm(consequence: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new ApiError("invalid_request", {
      message: `${consequence} Nothing was changed.`,
      hint: "Repeat it with --yes to do it without being asked.",
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const answer = await Promise.race([terminal.question(`${toPrintable(consequence)} Go on? [y/N] `), closed]);
  terminal.close();
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new ApiError("invalid_request", { message: "Nothing was changed.", hint: "You did not confirm it." });
}

/** A parser of an argument or option, from one that returns `undefined` for what is none, and the message for that. */
export function parser<T>(read: (text: string) => T | undefined, message: string): (text: string) => T {
  return (text) => {
    const parsed = read(text);
    if (parsed === undefined) throw new InvalidArgumentError(message);
    return parsed;
  };
}

/** A parser of texts of this form. */
export const matching = (form: RegExp, message: string) =>
  parser((text) => (form.test(text) ? text : undefined), message);

export const parseEmail = parser(parseEmailAddress, "It is not an email address.");

/** Parses an ISO 8601 date, or a date and time with an offset, to Unix milliseconds. */
export function parseInstant(text: string): number {
  if (!z.union([z.iso.datetime({ offset: true }), z.iso.date()]).safeParse(text).success) {
    throw new InvalidArgumentError("Write it like 2027-01-31 or 2027-01-31T09:00:00Z.");
  }
  const ms = Date.parse(text);
  if (!isInstant(ms)) throw new InvalidArgumentError("It must be from 1970 to 9999.");
  return ms;
}

export const parseWholeNumber = parser(
  (text) => (/^\d{1,6}$/.test(text) ? Number(text) : undefined),
  "It must be a whole number from 0 to 999999.",
);

/** Parses the maximum number of rows of a list. */
export const parseCount = parser(
  (text) => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined),
  "It must be a whole number from 1 to 9999999.",
);

/** Parses an amount of credits to thousandths; a negative amount reduces the balance. */
const parseAmount = parser(
  (text) => parseThousandths(text) || undefined,
  `It must be a number other than 0, from -${maxCredits} to ${maxCredits}, with at most three decimals.`,
);

/** Parses a balance to thousandths. */
export const parseBalance = parser((text) => {
  const thousandths = parseThousandths(text) ?? -1;
  return thousandths < 0 ? undefined : thousandths;
}, `It must be a number from 0 to ${maxCredits}, with at most three decimals.`);

/** Parses a one-line text that people will see. */
export const parseWords = parser((text) => {
  const words = text.trim();
  return words === "" || words.length > 500 || /\p{Cc}/u.test(words) ? undefined : words;
}, "It must be one line of 1 to 500 characters.");

export const parseSubject = matching(/^user_\w{1,64}$/, "It must be a user id like user_2abc.");

const parseOperator = matching(
  operatorName,
  "It must be 1 to 40 lower-case letters, digits, dots and hyphens.",
);

/** How arguments are parsed, and an example of each, by their names. */
const knownArguments: Record<string, { parse?: (text: string) => unknown; example?: string }> = {
  email: { parse: parseEmail, example: "ceo@example.com" },
  name: { parse: parseOperator, example: "ann" },
  amount: { parse: parseAmount },
  message: { parse: parseWords },
  words: { parse: parseWords },
  kid: { example: "kid-from-keys-list" },
  id: { example: "--all" },
  file: { parse: (path) => resolve(path), example: "office.backup" },
};
