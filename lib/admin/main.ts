import { Command, CommanderError } from "commander";
import { addAccountCommands } from "@/lib/admin/account";
import { addBannerCommands } from "@/lib/admin/banner";
import { addCheckCommand } from "@/lib/admin/check";
import type { Result, Run } from "@/lib/admin/command";
import { addCreditCommands } from "@/lib/admin/credits";
import { addEmailCommands } from "@/lib/admin/emails";
import { addInviteCommands } from "@/lib/admin/invite";
import { addKeyCommands } from "@/lib/admin/keys";
import { addSessionCommands } from "@/lib/admin/session";
import { addTokenCommand } from "@/lib/admin/token";
import { ApiError } from "@/lib/api/errors";
import { loadEnvFiles } from "@/lib/settings/env-files";
import { SettingsError, settings } from "@/lib/settings/settings";
import { closeStore, store } from "@/lib/store/store";

const program = new Command("admin")
  .description("the operator's commands")
  .option("--json", "print one JSON document")
  .exitOverride()
  .configureOutput({ outputError: (fault, write) => write(`${fault.trim().replace(/\s*\n\s*/g, " ")}\n`) });

const print = ({ json, text }: Result) => {
  process.stdout.write(`${program.opts().json ? JSON.stringify(json, null, 2) : text}\n`);
};

const run: Run =
  (work) =>
  async (...args) =>
    print(await work(await store(), ...args));

addAccountCommands(program, run);
addCreditCommands(program, run);
addBannerCommands(program, run);
addEmailCommands(program, run);
addInviteCommands(program, run);
addTokenCommand(program, run);
addSessionCommands(program, run);
addKeyCommands(program, run);
addCheckCommand(program, print);

loadEnvFiles();
try {
  settings();
  await program.parseAsync();
} catch (failure) {
  process.exitCode = complain(failure);
} finally {
  await closeStore().catch(() => {});
  // A call to a provider that was given up may still hang, and would keep the process from ending.
  process.stdout.write("", () => process.exit());
}

/** One line on standard error, and the exit code: 2 for a wrong command, 1 for a refused one. */
function complain(failure: unknown): number {
  // Commander has printed its own line, or the help that was asked for.
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : 2;
  const line = (words: string) => process.stderr.write(`${words}\n`);
  if (failure instanceof ApiError) line(`${failure.code}: ${failure.message} ${failure.hint}`);
  else if (failure instanceof SettingsError) line(failure.message);
  else line(`internal_error: ${(failure as Error).message.split("\n")[0]}`);
  return 1;
}
