import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { fieldsOf, type ShellAct } from "@/lib/admin/act";
import { knownArguments } from "@/lib/admin/arguments";
import { askToConfirm, type Confirm } from "@/lib/admin/confirmation";
import { type Listing, print, type Result } from "@/lib/admin/print";
import { answersWithinMs } from "@/lib/config/limits";
import { type Db, migratedStore, processStore } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

type Call = { db: Db; confirm: Confirm };

/** What is parsed as null, of which commander would make an empty text. */
const none = Symbol("none");

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

  /** The commands below this one, with their arguments and what `--help` says of them. */
  list(words = ""): { usage: string; words: string }[] {
    return (this.commands as AdminCommand[]).flatMap((command) => {
      const usage = `${words}${command.name()}`;
      if (command.commands.length > 0) return command.list(`${usage} `);
      const [, ...taken] = this.createHelp().subcommandTerm(command).replace(" [options]", "").split(" ");
      return [{ usage: [usage, ...taken].join(" "), words: command.description() }];
    });
  }

  /** Adds the commands of acts to their group. */
  acts(acts: ShellAct[] | Record<string, ShellAct>): void {
    for (const act of Object.values(acts)) this.act(act);
  }

  private act(act: ShellAct): void {
    const { usage, words, examples = [], run } = act;
    const command = this.add(usage, words, ...examples);
    const { registeredArguments } = command;
    const options = new Map<string, string>();
    for (const [name, { option, words, parse, initial, conflicts = [] }] of fieldsOf(act)) {
      const argument = registeredArguments.find((argument) => argument.name() === name);
      if (argument && parse) argument.argParser(parse);
      if (option === undefined) continue;
      const described = new Option(option, words).default(initial).conflicts(conflicts);
      command.addOption(
        parse ? described.argParser((text, before) => parse(text, before) ?? none) : described,
      );
      options.set(described.attributeName(), name);
    }
    command.does(({ db, confirm }, ...args: unknown[]) => {
      const chosen = Object.entries(args[registeredArguments.length] as object);
      const given = Object.fromEntries([
        ...registeredArguments.map((argument, at) => [argument.name(), args[at]]),
        ...chosen.map(([name, value]) => [options.get(name), value === none ? null : value]),
      ]);
      const call = { db, by: "operator", nowMs: Date.now(), confirm, requireSeen() {} } as const;
      return run(call, given).catch((failure) => {
        if (failure instanceof InvalidArgumentError) command.error(`error: ${failure.message}`);
        throw failure;
      });
    });
  }

  /** What the command does with the store. Its result is printed, and an exception ends the process. */
  does<Args extends unknown[]>(
    work: (call: Call, ...args: Args) => Promise<Result | Listing | undefined>,
  ): this {
    return this.doesWithoutStore(async (confirm, ...args: Args) =>
      work({ db: await openStore(), confirm }, ...args),
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
