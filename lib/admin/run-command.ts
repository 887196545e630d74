import { Command, CommanderError } from "commander";
import { accountActs } from "@/lib/admin/account";
import type { ShellAct } from "@/lib/admin/act";
import { auditActs } from "@/lib/admin/audit";
import { backendActs } from "@/lib/admin/backend";
import { backupAct, restoreAct } from "@/lib/admin/backup";
import { bannerActs } from "@/lib/admin/banner";
import { billingActs } from "@/lib/admin/billing";
import { checkAct } from "@/lib/admin/check";
import { addCommand } from "@/lib/admin/command";
import { completionAct } from "@/lib/admin/completion";
import { connectActs } from "@/lib/admin/connect";
import { creditActs } from "@/lib/admin/credits";
import { emailActs } from "@/lib/admin/emails";
import { explainAct } from "@/lib/admin/explain";
import { inviteAct, waitlistActs } from "@/lib/admin/invite";
import { isKeptByNpm, isRunByNpm, writeBehindDashes } from "@/lib/admin/kept-by-npm";
import { keyActs } from "@/lib/admin/keys";
import { migrateAct } from "@/lib/admin/migrate";
import { operatorActs } from "@/lib/admin/operator";
import { overviewAct } from "@/lib/admin/overview";
import { passkeyActs } from "@/lib/admin/passkey";
import { personActs } from "@/lib/admin/person";
import { planActs } from "@/lib/admin/plan";
import { sessionActs } from "@/lib/admin/session";
import { stackAct } from "@/lib/admin/stack-traces";
import { tokenAct } from "@/lib/admin/token";
import { webhookActs } from "@/lib/admin/webhook";
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

type Group = readonly [name: string, words: string, acts: readonly ShellAct[] | Record<string, ShellAct>];

/** Every command, those of one noun in a group. */
const commandsOf = (program: Command): readonly (Group | ShellAct)[] => [
  overviewAct,
  explainAct,
  ["account", "the accounts", accountActs],
  ["credits", "the balances and the ledger", creditActs],
  ["billing", "what was bought at Stripe", billingActs],
  ["banner", "the notice at the top of the site", bannerActs],
  ["emails", "the onboarding emails", emailActs],
  inviteAct,
  ["waitlist", "the people who asked for an invitation", waitlistActs],
  tokenAct,
  ["session", "the sessions of an account", sessionActs],
  ["passkey", "the passkeys of an account, under local sign-in", passkeyActs],
  ["keys", "the keys that sign session tokens", keyActs],
  ["connect", "the apps that owners can connect", connectActs],
  ["operator", "the people who work in the office (OFFICE_PORT)", operatorActs],
  ["backend", "your systems that call the backend API (BACKEND_PORT)", backendActs],
  ["plan", "what an account may do, and what that costs", planActs],
  ["webhook", "where events are sent", webhookActs],
  ["audit", "who changed what", auditActs],
  ["person", "personal data", personActs],
  backupAct,
  restoreAct,
  checkAct,
  migrateAct,
  stackAct,
  completionAct(program),
];

/** The commands, each with its arguments and what `--help` says of it. */
export const listCommands = (): { usage: string; words: string }[] =>
  commandsOf(new Command()).flatMap((one) => {
    if ("usage" in one) return [one];
    const [group, , acts] = one;
    return Object.values(acts).map(({ usage, words }) => ({ usage: `${group} ${usage}`, words }));
  });

function describeCommands(): Command {
  const program = new Command("admin")
    .description("the operator's commands")
    .option("--json", "print one JSON document")
    .option("--yes", "do not ask before something is taken away or replaced")
    .version(version)
    .addHelpText("after", "\n'admin <command> --help' shows its options and examples.")
    .exitOverride()
    .hook("preAction", (_, command) => refuseKeptByNpm(command))
    .configureOutput({
      outputError: (fault) => complainOf(fault.trim().replace(/\s*\n\s*/g, " ")),
      // Commander would print its help for an incomplete command here; `complain` prints one line instead.
      writeErr: () => {},
    });
  for (const one of commandsOf(program)) {
    if ("usage" in one) addCommand(program, one);
    else {
      const [name, words, acts] = one;
      const group = program.command(name).description(words);
      for (const act of Object.values(acts)) addCommand(group, act);
    }
  }
  return program;
}

/** Settings of npm's own, which someone may have set for all that it runs. */
const npmsOwn = new Set(["all", "description", "json", "yes"]);

/** Refuses a command that npm would leave without an option that it was typed with. */
function refuseKeptByNpm(command: Command): void {
  const kept = command.options.find((option) => !npmsOwn.has(option.name()) && isKeptByNpm(option.name()));
  if (kept) command.error(`error: npm has kept ${kept.long} for itself. ${writeBehindDashes}`);
}

/**
 * Prints a line for each fault to standard error, and returns the exit code: 2 for an invalid command, 1 for a refused one,
 * and 3 if it may have been done.
 */
function complain(failure: unknown, program: Command): number {
  if (failure instanceof CommanderError) {
    if (failure.exitCode === 0) return 0;
    const given = ["admin", ...program.args].join(" ");
    if (failure.code === "commander.help") complainOf(`error: missing command: see '${given} --help'`);
    // Of an option that npm keeps, the value is left.
    if (failure.code === "commander.excessArguments" && isRunByNpm()) complainOf(writeBehindDashes);
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
