import { type Command, Option } from "commander";
import {
  type AccountTerms,
  defaultTrialDays,
  deleteAccount,
  describeAccount,
  findAccount,
  listAccounts,
  type Plan,
  plans,
  setAccount,
} from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/invitations";
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
import { mintLocalSubject } from "@/lib/session/session";
import { settings } from "@/lib/settings/settings";

/** The options that {@link withTerms} gives a command. */
export type TermOptions = {
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
        const terms = toTerms(options);
        // Clerk names its users itself: by its webhook, or by --subject.
        terms.subject ??= settings().signIn.kind === "clerk" ? undefined : mintLocalSubject();
        return toResult(await addAccount(db, email, terms, Date.now()));
      }),
    );

  withTerms(account.command("set").description("change an account"))
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string, options: TermOptions) =>
        toResult(await setAccount(db, email, toTerms(options), Date.now())),
      ),
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

/** Gives a command the options of an account's terms. */
export function withTerms(command: Command): Command {
  return withInvitedTerms(command).addOption(
    new Option("--subject <id>", "its user id at Clerk").argParser(parseSubject),
  );
}

/** The same for who has no subject yet. */
export function withInvitedTerms(command: Command): Command {
  return command
    .addOption(new Option("--plan <plan>", "what it may").choices(plans))
    .addOption(new Option("--trial-ends <instant>", "when the trial ends").argParser(parseInstant))
    .addOption(
      new Option("--trial-days <days>", `or: how many days it lasts (a new trial: ${defaultTrialDays})`)
        .argParser(parseWholeNumber)
        .conflicts("trialEnds"),
    )
    .addOption(
      new Option("--assistant-limit <n>", "how many assistants it may hire").argParser(parseWholeNumber),
    )
    .addOption(new Option("--credits <n>", "its balance").argParser(parseBalance));
}

/** The terms that these options give. */
export function toTerms({ trialEnds, credits, ...others }: TermOptions): AccountTerms {
  return { ...others, trialEndsAtMs: trialEnds, creditThousandths: credits };
}

function toResult(account: Parameters<typeof describeAccount>[0]): Result {
  const fields = describeAccount(account);
  return { json: fields, text: asLines(fields) };
}
