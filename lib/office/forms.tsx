import type { InputHTMLAttributes, ReactNode } from "react";
import { isInstant } from "@/lib/accounts/account";
import { termsOfPlan } from "@/lib/accounts/accounts";
import type { AccountTerms } from "@/lib/accounts/gift";
import { ApiError } from "@/lib/http/errors";
import { hashContent } from "@/lib/http/etag";
import { parseJson } from "@/lib/http/json";
import { invalid, type OfficeCall, requireLine } from "@/lib/office/page";
import { type Plans, slug, titleOf } from "@/lib/plans/plan";

type FieldProps = {
  call: OfficeCall;
  name: string;
  label: string;
  current?: string | number | null | undefined;
} & Pick<
  InputHTMLAttributes<HTMLInputElement>,
  "inputMode" | "maxLength" | "placeholder" | "spellCheck" | "type"
>;

/** A field that shows what was typed if the form has come back. */
export function Field({ call, name, label, current, ...attributes }: FieldProps) {
  const value = call.typed(name) ?? String(current ?? "");
  return (
    <label>
      {label}
      <input name={name} autoComplete="off" defaultValue={value} {...attributes} />
    </label>
  );
}

type LinesProps = Pick<FieldProps, "call" | "name" | "label" | "current">;

/** A field of several lines. */
export function Lines({ call, name, label, current }: LinesProps) {
  const value = call.typed(name) ?? String(current ?? "");
  return (
    <label>
      {label}
      <textarea name={name} rows={3} spellCheck={false} defaultValue={value} />
    </label>
  );
}

type ChoiceProps = Pick<FieldProps, "call" | "name" | "label" | "current"> & {
  options: Record<string, string>;
};

/** A field for one of several values. */
export function Choice({ call, name, label, current, options }: ChoiceProps) {
  return (
    <label>
      {label}
      <select name={name} defaultValue={call.typed(name) ?? current ?? ""}>
        {Object.entries(options).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

type TimeFieldProps = Omit<FieldProps, "current"> & { atMs: number | null | undefined };

/** A field for a time in UTC, to the minute. */
export function TimeField({ atMs, ...field }: TimeFieldProps) {
  return <Field type="datetime-local" current={toMinute(atMs)} {...field} />;
}

/** A time as the field shows it; empty without one. */
export function toMinute(atMs: number | null | undefined): string {
  return atMs == null ? "" : new Date(atMs).toISOString().slice(0, 16);
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

type PlanFieldsProps = {
  call: OfficeCall;
  plans: Plans;
  plan: string;
  assistantLimit: number | null;
  children: ReactNode;
};

/** The fields of a plan: the plan itself, when its trial ends (the children), and a limit of assistants in place of its own. */
export function PlanFields({ call, plans, plan, assistantLimit, children }: PlanFieldsProps) {
  const limit = { name: "assistantLimit", label: "Assistants at most", inputMode: "numeric" } as const;
  return (
    <>
      <Choice call={call} name="plan" label="Plan" current={plan} options={planOptions(plans, plan)} />
      {children}
      <Field call={call} current={assistantLimit} {...limit} />
    </>
  );
}

/** Reads the terms of a form. Throws an {@link ApiError} for what no account can have. */
export function readTerms({ input }: Pick<OfficeCall, "input">): AccountTerms {
  const name = slug.safeParse(input("plan")).data;
  if (!name) throw invalid("Choose a plan.");
  const { plan, given_plan } = termsOfPlan(name);
  const terms: AccountTerms = { plan, given_plan };
  const [ends, days, limit] = [input("trialEnds"), input("trialDays"), input("assistantLimit")];
  if (ends && plan === "trial") terms.trial_ends_at_ms = parseTime(ends);
  if (days && plan === "trial") terms.trial_days = parseWhole(days, "The days of the trial");
  if (limit) terms.assistant_limit = parseWhole(limit, "The limit of assistants");
  return terms;
}

/** Parses a whole number. Throws an {@link ApiError}. */
export function parseWhole(text: string, what: string): number {
  if (!/^\d{1,6}$/.test(text)) throw invalid(`${what} must be a whole number from 0 to 999999.`);
  return Number(text);
}

/** What was typed in lines, each with what reads it. Throws an {@link ApiError} for a name twice. */
export function readLines<Value>(text: string, read: (line: string) => [name: string, value: Value]) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values = new Map<string, Value>();
  for (const line of lines) {
    const [name, value] = read(line);
    if (values.has(name)) throw invalid(`“${name}” is there twice.`);
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** Reads `voice = Talk to assistants`, or the name alone. Throws an {@link ApiError}. */
export function readFeature(line: string): [name: string, title: string] {
  const [name, title] = readPair(line);
  return [name, title === "" ? titleOf(name) : requireLine(`The title of ${name}`, title)];
}

/** Reads `projects = 20` or `projects = none`. Throws an {@link ApiError}. */
export function readLimit(line: string): [name: string, limit: number | null] {
  const [name, limit] = readPair(line);
  return [name, limit === "none" ? null : parseWhole(limit, `The limit of ${name}, if it is not none,`)];
}

function readPair(line: string): [name: string, value: string] {
  const [, typed = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(line) ?? [];
  return [requireSlug(typed.trim()), value.trim()];
}

/** A name of a plan, a feature or a limit. Throws an {@link ApiError}. */
export function requireSlug(typed: string): string {
  if (slug.safeParse(typed).success) return typed;
  throw invalid(`“${typed}” is no name: 1 to 40 lower-case letters, digits and hyphens, a letter first.`);
}

/** Features and limits as they are typed, one a line. */
export const toLines = (pairs: Readonly<Record<string, string | number | null>>) =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} = ${value ?? "none"}`)
    .join("\n");

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
  return { isChanged, kept: { ...call, typed } };
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
