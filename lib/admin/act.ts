import type { Confirm } from "@/lib/admin/confirmation";
import type { Listing, Result } from "@/lib/admin/print";
import type { Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** What the fields of a form show, by their names. */
export type Fields = Readonly<Record<string, string>>;

/** Who acts, and what is asked of them: a person at a shell, or an operator whose form is the answer. */
export type ActCall = {
  db: Db;
  by: Operator;
  nowMs: number;
  confirm: Confirm;
  /** Refuses a form that was made from another state, because someone else was first. A command knows none. */
  requireSeen: (state: Fields | undefined, message: string) => void;
};

/** One thing that is given to an act. */
export type ActField<Value> = {
  /** The option of its command, like `--events <names>`. Without it, it is an argument, or in the form alone. */
  option?: string;
  words?: string;
  /** The option of another field that it cannot go with, by its name in the shell. */
  conflicts?: string;
  /** Throws commander's `InvalidArgumentError`. The second value is what came before, of an option for each. */
  parse?(text: string, before?: Value): Value;
  /** The texts that it can be, in place of `parse`. */
  choices?: readonly string[];
  initial?: Value;
  /** How the form reads it, where it is not typed as in the shell. */
  read?(typed: string): Value | undefined;
  /** What the form calls it. Without a label the page fills it in, unseen. */
  label?: string;
  /** What it shows at first. */
  shown?: string;
  /** What a refusal of the form begins with, instead of "It". */
  subject?: string;
  /** How the form takes it, instead of one line: as several, each parsed as an option of its own, or as one of a few. */
  as?: "lines" | "time" | "number" | Fields;
  /** Boxes in place of one line, each with its words, of which several or none are ticked. */
  ticks?: Fields;
  /** What the form gives if it is empty. */
  none?: Value;
};

/** What an act does to whom, and how it is taken back; without `undo` it cannot be. */
export type Effect = { does: string; undo?: string };

export const effectInWords = ({ does, undo = "It cannot be undone." }: Effect) => `${does} ${undo}`;

/** One thing that an act changes, as it is now, if it is there already, and as it will be. */
export type Change = { what: string; before?: string | undefined; after: string };

/** What an act will do: whom it reaches, what changes for them, and its effect where that depends on whom. */
export type Preview = { whom: string; changes: Change[]; effect?: Effect };

/** What differs between two states, each in words by the names of what it has. */
export const changesBetween = (before: Fields, after: Fields): Change[] =>
  Object.entries(after).flatMap(([what, words]) =>
    before[what] === words ? [] : [{ what, before: before[what], after: words }],
  );

/** A command of the operator: its words, from which its help and its completion are made, and what is given to it. */
type Described<Given> = {
  /** The command in its group with its arguments, which are given by their names: `rotate <webhook>`. */
  usage: string;
  words: string;
  /** What it does, for its help, its form, and the page that asks for a proof. */
  effect?: Effect;
  /** For its help; by default one, with the usual arguments. `tests/lib/admin/main.test.ts` runs each. */
  examples?: string[];
  fields?: NoInfer<{ [Name in keyof Given]?: ActField<Exclude<Given[Name], undefined>> }>;
};

type Runs<Given, Output> = {
  /** What `run` would change. Throws an `ApiError` for what it would refuse. */
  preview?(call: Pick<ActCall, "db" | "nowMs">, given: NoInfer<Given>): Promise<Preview | undefined>;
  /** Does it, or throws an `ApiError` and changes nothing. */
  run(call: ActCall, given: Given): Promise<Output>;
};

/** What an operator does by a command: with the store, or with one that it opens itself, or with none. */
export type ShellAct<Given = Record<string, unknown>> = Described<Given> &
  (
    | Runs<Given, Result | Listing | undefined>
    | { runWithoutStore(confirm: Confirm, given: Given): Promise<Result | undefined> }
  );

/** What an operator does by a command and by a form, which `formOf` makes. The audit has the command's words for it. */
export type Act<Given = Record<string, unknown>, Json = unknown> = Described<Given> &
  Runs<Given, Result<Json>> & {
    /**
     * Its address, what it does as in "to rotate the secret", what the page says afterwards, and the kind of its entry in the
     * audit, by which one who came too late is told who was first.
     */
    form: { path: `/${string}`; name: string; done?: string; audited?: string };
    /** Whether what is left out stays: its form gives only what its sender changed of what it shows. */
    isPartial?: true;
    /** Whether the office carries it out without another use of the passkey. */
    needsNoProof?: true;
  };

/** An act, with the types of its `run`. */
export const act = <Given, Json>(described: Act<Given, Json>): Act<Given, Json> => described;

/** The same, of one that has no form. */
export const shellAct = <Given>(described: ShellAct<Given>): ShellAct<Given> => described;

/** A field as its command has it. */
export const option = <Value>(
  option: string,
  words: string,
  parse: (text: string, before?: Value) => Value,
) => ({ option, words, parse });

/** The fields of an act by their names. */
export const fieldsOf = ({ fields = {} }: ShellAct) =>
  Object.entries(fields as Record<string, ActField<unknown>>);
