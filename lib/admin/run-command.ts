import { CommanderError } from "commander";
import { addAccountCommands } from "@/lib/admin/account";
import { addAuditCommands } from "@/lib/admin/audit";
import { addBackendCommands } from "@/lib/admin/backend";
import { addBackupCommands } from "@/lib/admin/backup";
import { addBannerCommands } from "@/lib/admin/banner";
import { addBillingCommands } from "@/lib/admin/billing";
import { addCheckCommand } from "@/lib/admin/check";
import { AdminCommand } from "@/lib/admin/command";
import { addCompletionCommand } from "@/lib/admin/completion";
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
import { addPlanCommands } from "@/lib/admin/plan";
import { addSessionCommands } from "@/lib/admin/session";
import { addStackCommand } from "@/lib/admin/stack-traces";
import { addTokenCommand } from "@/lib/admin/token";
import { addWebhookCommands } from "@/lib/admin/webhook";
import { SettingsError, settings } from "@/lib/config/settings";
import { closeStore } from "@/lib/db/store";
import { isOutage, isUnknownOutcome } from "@/lib/db/store-outage";
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

/** Every command, by its words. */
export function describeCommands(): AdminCommand {
  const program = new AdminCommand("admin")
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

  addOverviewCommand(program);
  addExplainCommand(program);
  addAccountCommands(program);
  addCreditCommands(program);
  addBillingCommands(program);
  addBannerCommands(program);
  addEmailCommands(program);
  addInviteCommands(program);
  addTokenCommand(program);
  addSessionCommands(program);
  addPasskeyCommands(program);
  addKeyCommands(program);
  addConnectCommands(program);
  addOperatorCommands(program);
  addBackendCommands(program);
  addPlanCommands(program);
  addWebhookCommands(program);
  addAuditCommands(program);
  addPersonCommands(program);
  addBackupCommands(program);
  addCheckCommand(program);
  addMigrateCommand(program);
  addStackCommand(program);
  addCompletionCommand(program);
  return program;
}

/**
 * Prints a line for each fault to standard error, and returns the exit code: 2 for an invalid command, 1 for a refused one,
 * and 3 if it may have been done.
 */
function complain(failure: unknown, program: AdminCommand): number {
  if (failure instanceof CommanderError) {
    if (failure.exitCode === 0) return 0;
    const given = ["admin", ...program.args].join(" ");
    if (failure.code === "commander.help") complainOf(`error: missing command: see '${given} --help'`);
    return 2;
  }
  if (failure instanceof ApiError) complainOf(`${failure.code}: ${failure.message} ${failure.hint}`);
  else if (failure instanceof SettingsError || failure instanceof DataDirError) {
    for (const line of failure.message.split("\n")) complainOf(line);
  } else if (isUnknownOutcome(failure)) {
    complainOf(
      "unknown: The store did not say whether this was done. See 'audit list' and what it changes before you do it again.",
    );
    return 3;
  } else {
    const code = isOutage(failure) ? "unavailable" : "internal_error";
    complainOf(`${code}: ${(failure as Error).message.split("\n")[0]}`);
  }
  return 1;
}

function complainOf(line: string): void {
  process.stderr.write(`${toPrintable(line)}\n`);
}
