import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { knownArguments } from "@/lib/admin/arguments";
import { askToConfirm, type Confirm } from "@/lib/admin/confirmation";
import { type Listing, print, type Result } from "@/lib/admin/print";
import { answersWithinMs } from "@/lib/config/limits";
import { type Db, migratedStore, processStore } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

type Call = { db: Db; confirm: Confirm };

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
  does<Args extends unknown[]>(
    work: (call: Call, ...args: Args) => Promise<Result | Listing | undefined>,
  ): this {
    return this.doesWithoutStore(async (confirm, ...args: Args) => {
      await requireStore();
      return work({ db: await migratedStore(), confirm }, ...args);
    });
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
 * Refuses a command where no store is: one made there quietly would take what the running service never sees. A server that
 * has just started makes its store in a moment. Tells a person at a terminal which store it is.
 */
async function requireStore(): Promise<void> {
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
}
