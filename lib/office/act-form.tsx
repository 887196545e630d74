import type { ReactNode } from "react";
import { PostForm } from "@/app/(pages)/post-form";
import { namesOf } from "@/lib/accounts/audit-trail";
import { type Act, type ActField, effectInWords, type Fields, fieldsOf } from "@/lib/admin/act";
import { knownArguments } from "@/lib/admin/arguments";
import { describeDistance } from "@/lib/config/instants";
import { auditEntries } from "@/lib/db/audit";
import { ApiError } from "@/lib/http/errors";
import type { ResponseParts } from "@/lib/http/response";
import {
  Choice,
  Field,
  inForm,
  Lines,
  parseLines,
  parseTime,
  readSeen,
  requireSeen,
  Ticks,
  toSeen,
} from "@/lib/office/forms";
import {
  formAt,
  formWithProof,
  isConflict,
  type OfficeAct,
  type OfficeCall,
  type OfficeView,
} from "@/lib/office/page";

/**
 * What the form of an act does. The page says afterwards that it is done, unless `show` has something in its place.
 */
export function formOf<Given, Json>(
  act: Act<Given, Json>,
  show?: (json: Json, call: OfficeCall) => OfficeView | ResponseParts | undefined,
): OfficeAct {
  const { path, audited, ...words } = act.form;
  return {
    ...(act.needsNoProof ? formAt : formWithProof)(path),
    ...words,
    effect: act.effect,
    ...(act.preview && {
      preview: async (call: OfficeCall) => act.preview?.(call, readGiven(act as Act, call) as Given),
    }),
    async run(call) {
      const asks = {
        confirm: async () => {}, // who sends the form has read what it does
        requireSeen: (state: Fields | undefined, message: string) =>
          requireSeen(call, state ? toSeen(state) : "", message),
      };
      const given = readGiven(act as Act, call) as Given;
      const { json } = await act.run({ ...call, ...asks }, given).catch(async (failure) => {
        if (audited && failure instanceof ApiError && isConflict(failure))
          throw await withWho(failure, audited, call);
        throw failure;
      });
      return show?.(json, call);
    },
  };
}

/** A refusal of a form that came too late, which says who was the last to send one like it. */
async function withWho(refusal: ApiError, what: string, { db, input, nowMs }: OfficeCall) {
  const name = input("email") ?? input("plan");
  const whom = name === undefined ? undefined : await namesOf(db, name);
  const [last] = await auditEntries(db, { what, whom }).limit(1).execute();
  if (!last) return refusal;
  const { code, status, message, hint } = refusal;
  const who = `Last set by ${last.who}, ${describeDistance(last.at_ms, nowMs)}.`;
  return new ApiError(code, { status, message, hint: `${who} ${hint}` });
}

/** What was given in the form. Throws an {@link ApiError} for what cannot be. */
function readGiven(act: Act, call: OfficeCall): Record<string, unknown> {
  const taken = [...act.usage.matchAll(/[<[](\w+)[>\]]/g)].map(([, name = ""]) => name);
  const fields = [...taken.map((name) => [name, knownArguments[name] ?? {}] as const), ...fieldsOf(act)];
  const { isChanged } = readSeen(call);
  const read = ([name, field]: readonly [string, ActField<unknown>]) => {
    const isTaken = taken.includes(name);
    if (act.isPartial && !isTaken && !(field.label && isChanged(name))) return [name, undefined];
    const sent = call.input(name) ?? "";
    const typed = field.ticks ? sent.replaceAll("\n", ",") : sent;
    return [name, inForm(name, field.subject, () => parseTyped(field, typed, isTaken))];
  };
  return Object.fromEntries([...new Map(fields)].map(read));
}

function parseTyped(field: ActField<unknown>, typed: string, isTaken: boolean): unknown {
  const { read, parse = (text) => text, as, none } = field;
  if (read) return read(typed);
  if (as === "lines") return parseLines(parse as (line: string) => object, typed, none as object);
  if (typed === "" && !isTaken) return none;
  return as === "time" ? parseTime(typed) : parse(typed);
}

type ActFormProps = {
  act: Act;
  call: OfficeCall;
  children: ReactNode;
  hidden?: Record<string, string>;
  className?: string;
  /** What its fields show now, which it is made from. */
  current?: Fields;
  /** What its fields offer that the store has. */
  options?: Record<string, Fields>;
};

/** The form of an act, with what was typed if it has come back, and above its button what it does to whom. */
export function ActForm({
  act,
  call,
  children,
  hidden,
  className = "stack",
  current,
  options,
}: ActFormProps) {
  const seen = current && { seen: toSeen(current) };
  const { kept, conflictOf } = readSeen(call);
  return (
    <PostForm action={act.form.path} hidden={{ ...hidden, ...seen }} className={className}>
      {fieldsOf(act).map(
        ([name, { label, as, ticks, shown }]) =>
          label && (
            <Input
              key={name}
              call={current ? kept : call}
              current={current?.[name] ?? shown}
              conflict={current && conflictOf(name, current[name] ?? "", inWordsOf(options?.[name] ?? as))}
              {...{ name, label, as: options?.[name] ?? as, ticks }}
            />
          ),
      )}
      {act.effect && <p className="effect">{effectInWords(act.effect)}</p>}
      {children}
    </PostForm>
  );
}

/** The value of a field in words, for a sentence that compares it with another one. */
const inWordsOf = (as: ActField<unknown>["as"]) => (text: string) => {
  const words = typeof as === "object" ? (as[text] ?? text) : as === "time" ? text.replace("T", " ") : text;
  return words.replaceAll("\n", ", ") || "none";
};

type ActFoldProps = ActFormProps & {
  title: string;
  isOpen?: boolean | undefined;
  /** Whether it is the first thing to do on its page. */
  isFirst?: boolean;
};

/**
 * The form of an act behind its name: what it does is read before its button can be pressed. It is open if it has come back,
 * by default if any of its fields has.
 */
export function ActFold({ title, isOpen, isFirst, ...form }: ActFoldProps) {
  const { act, call } = form;
  const hasComeBack = fieldsOf(act).some(([name, { label }]) => label && call.typed(name) !== undefined);
  return (
    <details className={isFirst ? "fold act first" : "fold act"} open={isOpen ?? hasComeBack}>
      <summary>{title}</summary>
      <ActForm {...form} />
    </details>
  );
}

type InputProps = Parameters<typeof Field>[0] & {
  as: ActField<unknown>["as"];
  ticks: ActField<unknown>["ticks"];
};

function Input({ as, ticks, ...field }: InputProps) {
  if (ticks) return <Ticks {...field} options={ticks} />;
  if (as === "lines") return <Lines {...field} />;
  if (as === "time") return <Field type="datetime-local" {...field} />;
  if (typeof as === "object") return <Choice {...field} options={as} />;
  return <Field {...field} maxLength={1000} inputMode={as === "number" ? "decimal" : undefined} />;
}
