import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import * as z from "zod";
import { isInstant } from "@/lib/accounts/account";
import { maxCredits, parseThousandths } from "@/lib/accounts/credits/ledger";
import { maxReferenceCharacters } from "@/lib/accounts/reference";
import { plainName } from "@/lib/auth/operators";
import { dayMs } from "@/lib/config/durations";
import { notAnEmail, parseTypedEmail, whyNotAnEmail } from "@/lib/config/email-address";
import { requestIdPattern } from "@/lib/http/call";
import { slug, titleOf } from "@/lib/plans/plan";

/** A parser of an argument or option, from one that returns `undefined` for a text that it does not accept, and what is said then. */
export function parser<T>(
  read: (text: string) => T | undefined,
  message: string | ((text: string) => string),
): (text: string) => T {
  return (text) => {
    const parsed = read(text);
    if (parsed !== undefined) return parsed;
    throw new InvalidArgumentError(typeof message === "string" ? message : message(text));
  };
}

/** A parser of texts of this form. */
export const matching = (form: RegExp, message: string) =>
  parser((text) => (form.test(text) ? text : undefined), message);

/** Parses an email as it was typed. */
export const parseEmail = parser(parseTypedEmail, (text) => notAnEmail[whyNotAnEmail(text)]);

const parseId = matching(
  requestIdPattern,
  "It must be an email, or the id of a failure, as an answer's X-Request-Id.",
);

/** Parses an ISO 8601 date, or a date and time with an offset, to Unix milliseconds. */
export function parseInstant(text: string): number {
  if (!z.union([z.iso.datetime({ offset: true }), z.iso.date()]).safeParse(text).success) {
    throw new InvalidArgumentError("Write it like 2027-01-31 or 2027-01-31T09:00:00Z.");
  }
  const ms = Date.parse(text);
  if (!isInstant(ms)) throw new InvalidArgumentError("It must be from 1970 to 9999.");
  return ms;
}

/** Parses an end: an instant, the last day as that day's end in UTC, or null for none. */
export function parseEnd(text: string): number | null {
  if (text === "none") return null;
  const isDay = z.iso.date().safeParse(text).success;
  return parseInstant(text) + (isDay ? dayMs : 0);
}

const matchingNumber = (message: string, form = /^\d{1,6}$/) =>
  parser((text) => (form.test(text) ? Number(text) : undefined), message);

const aWholeNumber = "a whole number from 0 to 999999";

export const parseWholeNumber = matchingNumber(`It must be ${aWholeNumber}.`);

/** Parses the maximum number of rows of a list. */
export const parseCount = matchingNumber("It must be a whole number from 1 to 9999999.", /^[1-9]\d{0,6}$/);

/** Why a text is no number of credits, of a kind that is said like `a number from 0`. */
const whyNotCredits = (kind: string) => (text: string) => {
  if (/\d\.\d\d0$/.test(text))
    return "It must not have a 0 as its third decimal: 1.000 is one, or a thousand.";
  if (/\d\.\d{4,}$/.test(text)) return "It must have at most three decimals.";
  if (/^\D?\d{13,}/.test(text)) return `It must be at most ${maxCredits.toLocaleString("en")}.`;
  return `It must be ${kind}, like 2.5.`;
};

/** Parses an amount of credits to thousandths; a negative amount reduces the balance, also with a sign as in print. */
export const parseAmount = parser(
  (text) => parseThousandths(text.replace(/^\u2212/, "-")) || undefined,
  whyNotCredits("a number other than 0"),
);

/** Parses a balance to thousandths. */
export const parseBalance = parser((text) => {
  const thousandths = parseThousandths(text) ?? -1;
  return thousandths < 0 ? undefined : thousandths;
}, whyNotCredits("a number from 0"));

const oneLine = (most: number) =>
  parser(
    (text) => (text !== "" && text.length <= most && !/\p{Cc}/u.test(text) ? text : undefined),
    `It must be one line of 1 to ${most} characters.`,
  );

const parseLine = oneLine(500);

/** Parses a one-line text that people will see. */
export const parseWords = (text: string) => parseLine(text.trim());

/** Parses an operator's own name for an account. */
export const parseReference = oneLine(maxReferenceCharacters);

export const parseSubject = matching(/^user_\w{1,64}$/, "It must be a user id like user_2abc.");

const parseOperator = matching(plainName, "It must be 1 to 40 lower-case letters, digits, dots and hyphens.");

/** Parses the name of a plan, a feature or a limit. */
export const parseSlug = parser(
  (text) => slug.safeParse(text).data,
  (text) => `“${text}” is no name: 1 to 40 lower-case letters, digits and hyphens, a letter first.`,
);

/** Parses one of several names; `none` is none of them. */
export const collectSlug = (text: string, before: string[] = []): string[] =>
  text === "none" ? [] : [...before, parseSlug(text)];

/** Parses one of several features, like `voice` or `voice=Talk to assistants`; `none` is none of them. */
export function collectFeature(text: string, before: Record<string, string> = {}): Record<string, string> {
  if (text === "none") return {};
  const [name, title] = halves(text);
  return { ...before, [parseSlug(name)]: title ? parseWords(title) : titleOf(name) };
}

/** Parses one of several limits, like `projects=20` or `projects=none`; this word takes one away: `projects=gone`. */
export function collectLimitOr<Word extends string>(word: Word) {
  type Limits = Record<string, number | null | Word>;
  return (text: string, before: Limits = {}): Limits => {
    const [typed, value] = halves(text);
    const name = parseSlug(typed);
    const parse = matchingNumber(`The limit of ${name}, if it is not none, must be ${aWholeNumber}.`);
    return { ...before, [name]: value === word ? word : value === "none" ? null : parse(value) };
  };
}

function halves(text: string): [name: string, value: string] {
  const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(text) ?? [];
  return [name.trim(), value.trim()];
}

/** Parses one of several prices at Stripe; `none` is none of them. */
export function collectPrice(text: string, before: string[] = []): string[] {
  if (text === "none") return [];
  if (/^price_\w{1,100}$/.test(text)) return [...before, text];
  throw new InvalidArgumentError(`“${text}” is no id of a price at Stripe, like price_1Abc.`);
}

/** Features and limits as they are typed, one a line. */
export const toLines = (pairs: Readonly<Record<string, string | number | null>>) =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} = ${value ?? "none"}`)
    .join("\n");

/** For example `assistants=7, projects=none`. */
export const limitsInWords = (limits: Readonly<Record<string, number | null>>) =>
  Object.entries(limits)
    .map(([name, limit]) => `${name}=${limit ?? "none"}`)
    .join(", ");

/** How arguments are parsed, and an example of each, by their names. */
export const knownArguments: Record<string, { parse?: (text: string) => unknown; example?: string }> = {
  email: { parse: parseEmail, example: "ceo@example.com" },
  about: { parse: (text) => (text.includes("@") ? parseEmail(text) : parseId(text)) },
  operator: { parse: parseOperator, example: "ann" },
  message: { parse: parseWords },
  plan: { parse: parseSlug, example: "hobby" },
  kid: { example: "kid-from-keys-list" },
  id: { example: "--all" },
  session: { example: "--all" },
  webhook: { example: "wh_from_the_list" },
  backend: { parse: parseOperator, example: "worker" },
  url: { example: "https://systems.example.com/events" },
  instant: { parse: parseInstant, example: "2026-01-31T09:00:00Z" },
  file: { parse: (path) => resolve(path), example: "office.backup" },
};
