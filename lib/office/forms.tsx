import { InvalidArgumentError } from "commander";
import type { InputHTMLAttributes } from "react";
import { isInstant } from "@/lib/accounts/account";
import { termsOfPlan } from "@/lib/accounts/accounts";
import type { AccountTerms } from "@/lib/accounts/terms/gift";
import { parseWholeNumber } from "@/lib/admin/arguments";
import { ApiError } from "@/lib/http/errors";
import { hashContent } from "@/lib/http/etag";
import { parseJson } from "@/lib/http/json";
import { FieldError, invalid, isConflict, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { type Plans, slug } from "@/lib/plans/plan";

type FieldProps = {
  call: OfficeCall;
  name: string;
  label: string;
  current?: string | number | null | undefined;
  /** What its sender and someone else made of it meanwhile. */
  conflict?: string | undefined;
} & Pick<
  InputHTMLAttributes<HTMLInputElement>,
  "inputMode" | "list" | "maxLength" | "placeholder" | "spellCheck" | "type"
>;

/** The name of a field, and more quietly what follows it: how it is filled in. */
export function Label({ words }: { words: string }) {
  const [, name = words, hint = ""] = /^([^,;(]+)([,;(].*)$/.exec(words) ?? [];
  return (
    <span className="field-name">
      {name}
      {hint && <span className="hint">{hint}</span>}
    </span>
  );
}

const problemOf = ({ problem }: OfficeCall, name: string) =>
  problem instanceof FieldError && problem.field === name ? problem.message : undefined;

/** The attributes of a field that has to be typed again. */
const marked = (call: OfficeCall, name: string) =>
  problemOf(call, name) !== undefined && { "aria-invalid": true, autoFocus: true };

type ComesBackProps = Pick<FieldProps, "call" | "name" | "conflict">;

/** What is said beneath a field that has come back. */
function ComesBack({ call, name, conflict }: ComesBackProps) {
  const problem = problemOf(call, name);
  return (
    <>
      {problem && <span className="field-problem">{problem}</span>}
      {conflict && <span className="field-conflict">{conflict}</span>}
    </>
  );
}

/** A field that shows what was typed if the form has come back. */
export function Field({ call, name, label, current, conflict, ...attributes }: FieldProps) {
  const value = call.typed(name) ?? String(current ?? "");
  return (
    <label>
      <Label words={label} />
      <input name={name} autoComplete="off" defaultValue={value} {...attributes} {...marked(call, name)} />
      <ComesBack call={call} name={name} conflict={conflict} />
    </label>
  );
}

type FindProps = Pick<FieldProps, "call" | "label" | "current"> & {
  of: OfficePage["path"];
  /** The other parameters of the list, which stay. */
  kept: Readonly<Record<string, string | undefined>>;
};

/** The form that looks for a text in a list. */
export function FindForm({ of, kept, ...field }: FindProps) {
  return (
    <form action={of} className="filter">
      {Object.entries(kept).map(
        ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
      )}
      <Field name="find" type="search" spellCheck={false} {...field} />
      <button type="submit" className="plain">
        Find
      </button>
    </form>
  );
}

/** What is looked for: of the address of a page at Stripe or Clerk, the id in it. */
export const soughtIn = (text: string | undefined) =>
  text?.replace(/^https:\/\/\S*\/([a-z]+_\w+)\b\S*$/, "$1");

/**
 * What a list says that has nothing. Of a payment, a refund, a dispute and older invoices at Stripe no id is kept here, and no
 * number of an invoice or a receipt.
 */
export const nothingFound = (words: string, sought = "") =>
  /^(?:(?:pi|ch|py|in|re|pyr|du|dp|sub|cs|cus)_\w+|[A-Z\d]{4,}-\d{4,})$/.test(sought)
    ? `${words} Stripe’s page of it names the customer: look for that id (cus_…) or the email.`
    : words;

type LinesProps = Pick<FieldProps, "call" | "name" | "label" | "current" | "conflict">;

/** A field of several lines. */
export function Lines({ call, name, label, current, conflict }: LinesProps) {
  const value = call.typed(name) ?? String(current ?? "");
  return (
    <label>
      <Label words={label} />
      <textarea name={name} rows={3} spellCheck={false} defaultValue={value} {...marked(call, name)} />
      <ComesBack call={call} name={name} conflict={conflict} />
    </label>
  );
}

type ChoiceProps = LinesProps & {
  options: Record<string, string>;
};

/** A field for one of several values. */
export function Choice({ call, name, label, current, conflict, options }: ChoiceProps) {
  return (
    <label>
      <Label words={label} />
      <select name={name} defaultValue={call.typed(name) ?? current ?? ""} {...marked(call, name)}>
        {Object.entries(options).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <ComesBack call={call} name={name} conflict={conflict} />
    </label>
  );
}

/** Boxes of which several can be ticked, with the names that programs have for them. */
export function Ticks({ call, name, label, current, options }: ChoiceProps) {
  const ticked = new Set((call.typed(name) ?? String(current ?? "")).split(/[\n,]/));
  return (
    <fieldset className="ticks">
      <legend>
        <Label words={label} />
        <ComesBack call={call} name={name} />
      </legend>
      {Object.entries(options).map(([value, words]) => (
        <label key={value} className="choice">
          <input type="checkbox" name={name} value={value} defaultChecked={ticked.has(value)} />
          <span>
            {words} <code>{value}</code>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Parses the field to Unix milliseconds; `null` if it is empty. Throws an {@link ApiError}. */
export function parseTime(text: string | undefined): number | null {
  if (!text) return null;
  const atMs = Date.parse(`${text}Z`);
  if (!isInstant(atMs)) throw invalid("A time must be from 1970 to 9999.");
  return atMs;
}

/** The plans, as a {@link Choice} has them: those that are offered, and the one that is chosen. */
export const planOptions = (plans: Plans, current?: string) =>
  Object.fromEntries(
    [...plans.values()]
      .filter(({ name, retired_at_ms }) => retired_at_ms === null || name === current)
      .map(({ name, title }) => [name, title]),
  );

/** Reads the terms of a form. Throws an {@link ApiError} for what no account can have. */
export function readTerms({ input }: Pick<OfficeCall, "input">): AccountTerms {
  const name = slug.safeParse(input("plan")).data;
  if (!name) throw invalid("Choose a plan.");
  const { plan, given_plan } = termsOfPlan(name);
  const terms: AccountTerms = { plan, given_plan };
  const [days, limit] = [input("trialDays"), input("assistantLimit")];
  if (days && plan === "trial")
    terms.trial_days = inForm("trialDays", "The days of the trial", () => parseWholeNumber(days));
  if (limit)
    terms.assistant_limit = inForm("assistantLimit", "The limit of assistants", () =>
      parseWholeNumber(limit),
    );
  return terms;
}

/** What was typed in lines, each parsed as an option of a command is. Throws an {@link ApiError} for a name twice. */
export function parseLines<Values extends object>(
  parse: (line: string, before?: Values) => Values,
  typed: string,
  none: Values,
): Values {
  const namesOf = (values: Values): string[] => (Array.isArray(values) ? values : Object.keys(values));
  return typed.split("\n").reduce((before, line) => {
    if (line.trim() === "") return before;
    const [name = ""] = namesOf(parse(line.trim()));
    if (namesOf(before).includes(name)) throw invalid(`“${name}” is there twice.`);
    return parse(line.trim(), before);
  }, none);
}

/** Parses a field as a command does, and refuses as a form does: "It" has a name here. Throws a {@link FieldError}. */
export function inForm<Value>(field: string, subject: string | undefined, parse: () => Value): Value {
  try {
    return parse();
  } catch (failure) {
    if (failure instanceof ApiError) throw new FieldError(field, failure);
    if (!(failure instanceof InvalidArgumentError)) throw failure;
    throw new FieldError(field, invalid(failure.message.replace(/^It\b/, subject ?? "It")));
  }
}

/** What a form shows of these fields, in short: by it {@link readSeen} finds out what its sender changed. */
export const toSeen = (fields: Readonly<Record<string, string>>) =>
  JSON.stringify(Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, hashContent(text)])));

/** What the sender of a form changed; and the call for a form that comes back, in which only that stays as typed. */
export function readSeen(call: OfficeCall) {
  const seen = (parseJson(Buffer.from(call.typed("seen") ?? "")) ?? {}) as Partial<Record<string, string>>;
  const isChanged = (name: string) => {
    const typed = call.typed(name)?.replaceAll("\r\n", "\n");
    return typed !== undefined && hashContent(typed) !== seen[name];
  };
  const typed = (name: string) => (isChanged(name) ? call.typed(name) : undefined);
  /** What is to be said of a field that someone else, and perhaps its sender, changed to something else. */
  const conflictOf = (name: string, now: string, inWords: (text: string) => string) => {
    const yours = typed(name)?.replaceAll("\r\n", "\n");
    if (!isConflict(call.problem) || yours === now) return undefined;
    if (yours !== undefined) return `Yours: ${inWords(yours)} · now: ${inWords(now)}`;
    return seen[name] !== undefined && seen[name] !== hashContent(now) ? "Changed meanwhile" : undefined;
  };
  return { isChanged, conflictOf, kept: { ...call, typed } };
}

/** Refuses a form that was made from another state than this one, because someone else was first. */
export function requireSeen({ input }: Pick<OfficeCall, "input">, state: string, message: string): void {
  if (input("seen") === state) return;
  throw new ApiError("forbidden", {
    status: 409,
    message,
    hint: "What you typed is still in the form. Send it again if it should be done all the same.",
  });
}
