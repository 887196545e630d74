import { type Command, Option } from "commander";
import {
  type AccountTerms,
  addAccount,
  deleteAccount,
  describeAccount,
  findAccount,
  listAccounts,
  type Plan,
  plans,
  setAccount,
} from "@/lib/accounts";
import {
  asLines,
  asTable,
  parseBalance,
  parseEmail,
  parseInstant,
  parseSubject,
  parseWholeNumber,
  type Result,
  type Run,
} from "@/lib/admin/command";
import { settings } from "@/lib/settings";
import { mintLocalSubject } from "@/lib/sign-in/local-session";

const dayMs = 24 * 60 * 60 * 1000;

type TermOptions = {
  plan?: Plan;
  trialEnds?: number;
  trialDays?: number;
  assistantLimit?: number;
  credits?: number;
  subject?: string;
};

/** `account add|set|show|list|delete`. */
export function addAccountCommands(program: Command, run: Run): void {
  const account = program.command("account").description("the accounts");

  withTerms(account.command("add").description("make an account, with its onboarding mails"))
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string, options: TermOptions) => {
        const nowMs = Date.now();
        const terms = toTerms(options, nowMs);
        // Clerk names its users itself: by its webhook, or by --subject.
        terms.subject ??= settings().signIn.kind === "clerk" ? undefined : mintLocalSubject();
        return toResult(await addAccount(db, email, terms, nowMs));
      }),
    );

  withTerms(account.command("set").description("change an account"))
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string, options: TermOptions) => {
        const nowMs = Date.now();
        return toResult(await setAccount(db, email, toTerms(options, nowMs), nowMs));
      }),
    );

  account
    .command("show")
    .description("show an account")
    .argument("<email>", "", parseEmail)
    .action(run(async (db, email: string) => toResult(await findAccount(db, email))));

  account
    .command("list")
    .description("list the accounts")
    .action(
      run(async (db) => {
        const accounts = (await listAccounts(db)).map(describeAccount);
        const rows = accounts.map(({ email, plan, trialEndsAt, assistantLimit, credits }) => ({
          email,
          plan,
          trialEndsAt,
          assistantLimit,
          credits,
        }));
        return { json: accounts, text: asTable(rows, "There are no accounts.") };
      }),
    );

  account
    .command("delete")
    .description("delete an account and all that is its own")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        await deleteAccount(db, email);
        return { json: { deleted: email }, text: `Deleted ${email}.` };
      }),
    );
}

function withTerms(command: Command): Command {
  return command
    .addOption(new Option("--plan <plan>", "licensed, trial or hobby").choices(plans))
    .addOption(new Option("--trial-ends <instant>", "when the trial ends").argParser(parseInstant))
    .addOption(
      new Option("--trial-days <days>", "or: how many days it lasts from now")
        .argParser(parseWholeNumber)
        .conflicts("trialEnds"),
    )
    .addOption(
      new Option("--assistant-limit <n>", "how many assistants it may hire").argParser(parseWholeNumber),
    )
    .addOption(new Option("--credits <n>", "its balance").argParser(parseBalance))
    .addOption(new Option("--subject <id>", "its user id at Clerk").argParser(parseSubject));
}

function toTerms(
  { plan, trialEnds, trialDays, assistantLimit, credits, subject }: TermOptions,
  nowMs: number,
): AccountTerms {
  const trialEndsAtMs = trialDays === undefined ? trialEnds : nowMs + trialDays * dayMs;
  return { plan, trialEndsAtMs, assistantLimit, creditThousandths: credits, subject };
}

function toResult(account: Parameters<typeof describeAccount>[0]): Result {
  const fields = describeAccount(account);
  return { json: fields, text: asLines(fields) };
}
