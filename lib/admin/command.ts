import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { effectInWords, fieldsOf, type Preview, type ShellAct } from "@/lib/admin/act";
import { knownArguments } from "@/lib/admin/arguments";
import { askToConfirm } from "@/lib/admin/confirmation";
import { print } from "@/lib/admin/print";
import { answersWithinMs } from "@/lib/config/limits";
import { type Db, migratedStore, processStore } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { toPrintable } from "@/lib/runtime/printable";

/** What is parsed as null, of which commander would make an empty text. */
const none = Symbol("none");

/** Adds the command of an act to its group. Its result is printed, and an exception ends the process. */
export function addCommand(group: Command, act: ShellAct): void {
  const { usage, words, effect } = act;
  const command = group.command(usage).summary(words);
  command.description(effect ? `${words}\n\n${effectInWords(effect)}` : words);
  const { registeredArguments } = command;
  const fields = new Map(fieldsOf(act));
  for (const argument of registeredArguments) {
    const name = argument.name();
    const { parse, words = "" } = { ...knownArguments[name], ...fields.get(name) };
    argument.description = words;
    if (parse) argument.argParser(parse);
  }
  const options = new Map<string, string>();
  for (const [name, { option, words, parse, choices, initial, conflicts = [] }] of fields) {
    if (option === undefined) continue;
    const described = new Option(option, words).default(initial).conflicts(conflicts);
    if (choices) described.choices(choices);
    else if (parse) described.argParser((text, before) => parse(text, before) ?? none);
    command.addOption(described);
    options.set(described.attributeName(), name);
  }
  const lines = examplesOf(act, group).map((example) => `  npm run -s admin -- ${example.trim()}`);
  command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
  command.action(async (...args) => {
    const given = Object.fromEntries([
      ...registeredArguments.map((argument, at) => [argument.name(), args[at]]),
      ...Object.entries(command.opts()).map(([name, value]) => [
        options.get(name),
        value === none ? null : value,
      ]),
    ]);
    const { json, yes } = command.optsWithGlobals();
    const output = await run(act, yes ? async () => {} : askToConfirm, given).catch((failure) => {
      if (failure instanceof InvalidArgumentError) command.error(`error: ${failure.message}`);
      throw failure;
    });
    if (output) await print(output, json === true);
  });
}

function examplesOf({ usage, examples }: ShellAct, group: Command): string[] {
  if (examples) return examples;
  const usual = usage.replace(/[<[](\w+)[>\]]/g, (_, name) => knownArguments[name]?.example ?? "");
  return [group.parent ? `${group.name()} ${usual}` : usual];
}

async function run(act: ShellAct, confirm: typeof askToConfirm, given: Record<string, unknown>) {
  if ("runWithoutStore" in act) return act.runWithoutStore(confirm, given);
  const db = await openStore();
  const nowMs = Date.now();
  if (process.stderr.isTTY) showPreview(await act.preview?.({ db, nowMs }, given));
  return act.run({ db, by: "operator", nowMs, confirm, requireSeen() {} }, given);
}

/** Tells a person at a terminal what will change, before they are asked. */
function showPreview(preview: Preview | undefined): void {
  if (!preview) return;
  const { whom, changes } = preview;
  const lines = changes.map(
    ({ what, before, after }) => `  ${what}: ${before === undefined ? "" : `${before} → `}${after}`,
  );
  process.stderr.write(`${[whom, ...lines].map(toPrintable).join("\n")}\n`);
}

/**
 * Opens the store, and refuses a command where none is: one made there quietly would take what the running service never
 * sees. A server that has just started makes its store in a moment. Tells a person at a terminal which store it is.
 */
export async function openStore(): Promise<Db> {
  const untilMs = performance.now() + answersWithinMs.store;
  while (processStore().isMissing && performance.now() < untilMs) await sleep(50);
  const { isMissing, place } = processStore();
  if (isMissing) {
    throw new ApiError("not_found", {
      message: `There is no store at ${place}.`,
      hint: "Give this command the settings of the running service, or make a store there with 'migrate'.",
    });
  }
  if (process.stderr.isTTY) process.stderr.write(`store: ${place}\n`);
  return migratedStore();
}
