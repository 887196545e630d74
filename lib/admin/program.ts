import { Command, CommanderError } from "commander";
import { addAccountCommands } from "@/lib/admin/account";
import { addAuditCommands } from "@/lib/admin/audit";
import { addBackupCommands } from "@/lib/admin/backup";
import { addBannerCommands } from "@/lib/admin/banner";
import { addBillingCommands } from "@/lib/admin/billing";
import { addCheckCommand } from "@/lib/admin/check";
import { askToConfirm, type Confirm, type Run } from "@/lib/admin/command";
import { addConnectCommands } from "@/lib/admin/connect";
import { addCreditCommands } from "@/lib/admin/credits";
import { addEmailCommands } from "@/lib/admin/emails";
import { addExplainCommand } from "@/lib/admin/explain";
import { addInviteCommands } from "@/lib/admin/invite";
import { addKeyCommands } from "@/lib/admin/keys";
import { addMigrateCommand } from "@/lib/admin/migrate";
import { addOperatorCommands } from "@/lib/admin/operator";
import { addOverviewCommand } from "@/lib/admin/overview";
import { addPasskeyCommands } from "@/lib/admin/passkey";
import { addPersonCommands } from "@/lib/admin/person";
import { type Listing, print, type Result } from "@/lib/admin/print";
import { addSessionCommands } from "@/lib/admin/session";
import { addStackCommand } from "@/lib/admin/stack";
import { addTokenCommand } from "@/lib/admin/token";
import { SettingsError, settings } from "@/lib/config/settings";
import { closeStore, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { DataDirError } from "@/lib/runtime/data-dir";
import { toPrintable } from "@/lib/runtime/printable";
import { version } from "@/package.json";

/** Runs the command in `process.argv`, prints its result, and returns the exit code. */
export async function runCommand(): Promise<number> {
  const program = describeCommands();
  try {
    settings();
    await program.parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (failure) {
    return complain(failure, program);
  } finally {
    await closeStore().catch(() => {});
  }
}

function describeCommands(): Command {
  const program = new Command("admin")
    .description("the operator's commands")
    .option("--json", "print one JSON document")
    .option("--yes", "do not ask before something is taken away or replaced")
    .version(version)
    .addHelpText("after", "\n'admin <command> --help' shows its options and examples.")
    .exitOverride()
    .configureOutput({
      outputError: (fault) => complainOf(fault.trim().replace(/\s*\n\s*/g, " ")),
      // Commander would print its help for an incomplete command here; `complain` prints one line instead.
      writeErr: () => {},
    });

  const show = (output: Result | Listing) => print(output, program.opts().json === true);

  const run: Run =
    (work) =>
    async (...args) =>
      show(await work(await store(), ...args));

  const confirm: Confirm = async (consequence) => {
    if (program.opts().yes !== true) await askToConfirm(consequence);
  };

  addOverviewCommand(program, run);
  addExplainCommand(program, run);
  addAccountCommands(program, run, confirm);
  addCreditCommands(program, run);
  addBillingCommands(program, run);
  addBannerCommands(program, run, confirm);
  addEmailCommands(program, run);
  addInviteCommands(program, run, confirm);
  addTokenCommand(program, run);
  addSessionCommands(program, run, confirm);
  addPasskeyCommands(program, run);
  addKeyCommands(program, run, confirm);
  addConnectCommands(program, run);
  addOperatorCommands(program, run, confirm);
  addAuditCommands(program, run);
  addPersonCommands(program, run, confirm);
  addBackupCommands(program, show, confirm);
  addCheckCommand(program, show);
  addMigrateCommand(program, show);
  addStackCommand(program);
  return program;
}

/** Prints one line to standard error, and returns the exit code: 2 for an invalid command, 1 for a refused one. */
function complain(failure: unknown, program: Command): number {
  if (failure instanceof CommanderError) {
    if (failure.exitCode === 0) return 0;
    const given = ["admin", ...program.args].join(" ");
    if (failure.code === "commander.help") complainOf(`error: missing command: see '${given} --help'`);
    return 2;
  }
  if (failure instanceof ApiError) complainOf(`${failure.code}: ${failure.message} ${failure.hint}`);
  else if (failure instanceof SettingsError || failure instanceof DataDirError) complainOf(failure.message);
  else complainOf(`internal_error: ${(failure as Error).message.split("\n")[0]}`);
  return 1;
}

function complainOf(line: string): void {
  process.stderr.write(`${toPrintable(line)}\n`);
}
