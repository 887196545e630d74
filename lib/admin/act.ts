import type { Confirm } from "@/lib/admin/confirmation";
import type { Result } from "@/lib/admin/print";
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

/** What an operator does by a command. {@link AdminCommand.acts} makes it, with its help and its completion. */
export type ShellAct<Given = Record<string, unknown>, Json = unknown> = {
  /** The command in its group with its arguments, which are given by their names: `rotate <webhook>`. */
  usage: string;
  words: string;
  examples?: string[];
  fields?: NoInfer<{ [Name in keyof Given]?: ActField<Exclude<Given[Name], undefined>> }>;
  /** Does it, or throws an `ApiError` and changes nothing. */
  run(call: ActCall, given: Given): Promise<Result<Json>>;
};

/** What an operator does by a command and by a form, which `formOf` makes. The audit has the command's words for it. */
export type Act<Given = Record<string, unknown>, Json = unknown> = ShellAct<Given, Json> & {
  /** Its address, what it does as in "to rotate the secret", and what the page says afterwards. */
  form: { path: `/${string}`; name: string; done?: string };
  /** Whether what is left out stays: its form gives only what its sender changed of what it shows. */
  isPartial?: true;
  /** Whether the office carries it out without another use of the passkey. */
  needsNoProof?: true;
};

/** An act, with the types of its `run`. */
export const act = <Given, Json>(described: Act<Given, Json>): Act<Given, Json> => described;

/** The same, of one that has no form. */
export const shellAct = <Given, Json>(described: ShellAct<Given, Json>): ShellAct<Given, Json> => described;

/** The fields of an act by their names. */
export const fieldsOf = ({ fields = {} }: ShellAct) =>
  Object.entries(fields as Record<string, ActField<unknown>>);
