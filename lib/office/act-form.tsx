import type { ReactNode } from "react";
import { PostForm } from "@/app/(pages)/post-form";
import { type Act, type ActField, effectInWords, type Fields, fieldsOf } from "@/lib/admin/act";
import { knownArguments } from "@/lib/admin/arguments";
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
import { formAt, formWithProof, type OfficeAct, type OfficeCall, type OfficeView } from "@/lib/office/page";

/**
 * What the form of an act does. The page says afterwards that it is done, unless `show` has something in its place.
 */
export function formOf<Given, Json>(
  act: Act<Given, Json>,
  show?: (json: Json, call: OfficeCall) => OfficeView | ResponseParts | undefined,
): OfficeAct {
  const { path, ...words } = act.form;
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
      const { json } = await act.run({ ...call, ...asks }, readGiven(act as Act, call) as Given);
      return show?.(json, call);
    },
  };
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
    return [name, inForm(field.subject, () => parseTyped(field, typed, isTaken))];
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
  return (
    <PostForm action={act.form.path} hidden={{ ...hidden, ...seen }} className={className}>
      {fieldsOf(act).map(
        ([name, { label, as, ticks, shown }]) =>
          label && (
            <Input
              key={name}
              call={current ? readSeen(call).kept : call}
              current={current?.[name] ?? shown}
              {...{ name, label, as: options?.[name] ?? as, ticks }}
            />
          ),
      )}
      {act.effect && <p className="effect">{effectInWords(act.effect)}</p>}
      {children}
    </PostForm>
  );
}

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
