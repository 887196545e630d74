import { Option } from "commander";
import { type Account, describeAccount } from "@/lib/accounts/account";
import { deleteAccount, findAccount, listAccounts, setAccount, termsOfPlan } from "@/lib/accounts/accounts";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { addAccount } from "@/lib/accounts/joining/invitations";
import type { AccountTerms } from "@/lib/accounts/terms/gift";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { act } from "@/lib/admin/act";
import {
  collectLimitOr,
  collectSlug,
  limitsInWords,
  parseBalance,
  parseCount,
  parseEnd,
  parseInstant,
  parseReference,
  parseSlug,
  parseSubject,
  parseWholeNumber,
  parseWords,
} from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines, type Listing, type Result } from "@/lib/admin/print";
import { listPasskeys } from "@/lib/auth/passkeys/passkeys";
import { mintLocalSubject } from "@/lib/auth/sessions/session";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { contentsOf, type Plans, readPlans } from "@/lib/plans/plan";
import { findCustomer } from "@/lib/plans/purchases";
import { describeTerms, givenTerms } from "@/lib/plans/terms";
import { toPrintable } from "@/lib/runtime/printable";

type ListOptions = { plan?: string; ended?: true; containing?: string; after?: string; limit?: number };

/** The options that {@link withTerms} gives a command. */
export type TermOptions = {
  plan?: string;
  trialEnds?: number;
  trialDays?: number;
  assistantLimit?: number | "none";
  feature?: string[];
  limit?: Record<string, number | null | "plan">;
  until?: number | "none";
  credits?: number;
  subject?: string;
  reference?: string;
};

/** `account add|set|show|list|delete`. */
export function addAccountCommands(program: AdminCommand): void {
  const account = program.command("account").description("the accounts");

  withTerms(
    account.add(
      "add <email>",
      "create an account, with its onboarding emails",
      "account add ceo@example.com --plan trial --trial-days 14 --credits 100",
      "account add ceo@example.com --plan licensed --assistant-limit 12",
    ),
  ).does(async ({ db }, email: string, options: TermOptions) => {
    const terms = toTerms(options);
    // Clerk assigns the subject: by its webhook, or the operator passes --subject.
    terms.subject ??= settings().signIn.kind === "clerk" ? undefined : mintLocalSubject();
    return toResult(db, await addAccount(db, email, terms, Date.now()));
  });

  withTerms(
    account.add(
      "set <email>",
      "change an account; options that you leave out keep their values",
      "account set ceo@example.com --plan licensed",
      "account set ceo@example.com --feature voice --limit projects=50",
      "account set ceo@example.com --plan studio --until 2027-01-31",
      "account set ceo@example.com --plan trial --trial-ends 2027-01-31T09:00:00Z",
      "account set ceo@example.com --reference customer-7",
    ),
  )
    .option("--reference <text>", "your own name for it, which no other account has, or none", parseReference)
    .does(async ({ db }, email: string, options: TermOptions) => {
      const account = await setAccount(db, email, toTerms(options), Date.now());
      return toResult(db, account, await describeSources(db, account));
    });

  account.add("show <email>", "show an account").does(async ({ db }, email: string) => {
    const account = await findAccount(db, email);
    const passkeys = (await listPasskeys(db, account.id)).length;
    return toResult(db, account, { passkeys, ...(await describeSources(db, account)) });
  });

  account
    .add(
      "list",
      "list the accounts, by email",
      "account list --plan trial --ended",
      "account list --limit 50",
    )
    .option("--plan <plan>", "only accounts with this plan", parseSlug)
    .option("--ended", "only ended trials")
    .option("--containing <text>", "only emails that contain this text", parseWords)
    .option("--after <email>", "only emails after this one in the alphabet")
    .option("--limit <n>", "the maximum number of rows", parseCount)
    .does(async ({ db }, options: ListOptions) => listing(db, options));

  account.acts([deleteAccountAct]);
}

export const deleteAccountAct = act({
  usage: "delete <email>",
  words: "delete an account and all its data",
  form: { path: "/account/delete", name: "delete the account", done: "The account is deleted." },
  async run({ db, by, nowMs, confirm, requireSeen }, { email }: { email: string }) {
    // An account that cannot be read can be deleted, too.
    const row = await accountBy(db, "email", email).selectAll().executeTakeFirst();
    const account = `the account of ${email} (${row?.plan}, ${toCredits(row?.credit_thousandths ?? 0)} credits)`;
    if (row) {
      requireSeen({ id: row.id }, "This email has another account meanwhile.");
      await confirm(`This deletes ${account}, its history, sessions, apps and passkeys.`);
    }
    await deleteCustomer(db, "email", email, nowMs);
    await deleteAccount(db, email, by, nowMs);
    return { json: { deleted: email }, text: `Deleted ${account}.` };
  },
});

/** Gives a command the options of an account's terms. */
function withTerms(command: AdminCommand): AdminCommand {
  return withInvitedTerms(command)
    .option("--feature <name>", "all that it has beyond its plan, one each, or none", collectSlug)
    .option(
      "--limit <name=n>",
      "a limit in place of its plan's: a whole number, none, or plan for the plan's again",
      collectLimitOr("plan"),
    )
    .option(
      "--until <day>",
      "the last day (UTC) of what you give, or an instant; none for no end; alone, of all that you gave",
      parseEnd,
    )
    .option("--subject <id>", "the user id at Clerk", parseSubject);
}

/** The same options, for someone who has no subject yet. */
export function withInvitedTerms(command: AdminCommand): AdminCommand {
  return command
    .option("--plan <plan>", "the plan: one of 'plan list'", parseSlug)
    .option("--trial-ends <instant>", "when the trial ends", parseInstant)
    .addOption(
      new Option("--trial-days <days>", `the length of the trial in days (default: ${defaultTrialDays})`)
        .argParser(parseWholeNumber)
        .conflicts("trialEnds"),
    )
    .option("--assistant-limit <n>", "the maximum number of assistants, or none", (text) =>
      text === "none" ? text : parseWholeNumber(text),
    )
    .option("--credits <n>", "the balance", parseBalance);
}

/** Converts the options to terms. */
export function toTerms({
  plan,
  subject,
  reference: name,
  assistantLimit,
  feature: own_features,
  limit: own_limits,
  until,
  ...options
}: TermOptions): AccountTerms {
  const { trialEnds: trial_ends_at_ms, trialDays: trial_days, credits: credit_thousandths } = options;
  const assistant_limit = assistantLimit === "none" ? null : assistantLimit;
  const reference = name === "none" ? null : name;
  return {
    ...(plan !== undefined && termsOfPlan(plan)),
    ...{ subject, reference, trial_ends_at_ms, trial_days, assistant_limit, own_features, own_limits },
    ...(until !== undefined && { given_ends_at_ms: until === "none" ? null : until }),
    credit_thousandths,
  };
}

async function toResult(db: Db, account: Account, more: Record<string, unknown> = {}): Promise<Result> {
  const json = { ...describe(account, await readPlans(db)), ...more };
  const { status: _, features, limits, ...lines } = json;
  const contents = {
    features: features.join(),
    limits: limitsInWords(limits),
    ...(json.ownLimits && { ownLimits: limitsInWords(json.ownLimits) }),
  };
  return { json, text: asLines({ ...lines, ...contents, plan: planInWords(json) }) };
}

/** Throws an {@link ApiError} for an account whose plan cannot be read. */
function describe(account: Account, plans: Plans) {
  const contents = contentsOf(account, plans);
  if (contents) return describeAccount(account, contents);
  throw new ApiError("internal_error", {
    message: "The plan of this account is not valid.",
    hint: "Give it another one with 'account set --plan'.",
  });
}

/** What an operator and what Stripe give an account that has a licence from Stripe. */
async function describeSources(db: Db, account: Account): Promise<Record<string, unknown>> {
  const customer = await findCustomer(db, account.id);
  if (!customer?.licence) return {};
  return {
    operatorGives: describeTerms(givenTerms(account, customer)),
    stripeGives: describeTerms({
      given_plan: account.paid_plan,
      plan: "licensed",
      assistant_limit: customer.limit_given,
    }),
    endsAtStripe: dashboardUrl(customer.customer_id),
  };
}

type AccountFields = ReturnType<typeof describeAccount>;

function planInWords({ plan, trialEndsAt }: AccountFields): string {
  return trialEndsAt !== null && Date.parse(trialEndsAt) <= Date.now() ? `${plan}, ended` : plan;
}

/** Lists accounts. A record that does not parse is reported on standard error. */
function listing(db: Db, options: ListOptions): Listing {
  const { ended, limit, ...filter } = options;
  let listed = 0;
  let last = "";
  async function* pages() {
    const plans = await readPlans(db);
    for await (const page of listAccounts(db, { ...filter, state: ended && "trial-ended" }, limit)) {
      listed += page.length;
      last = page.at(-1)?.email ?? last;
      yield page.flatMap(({ email, account }) => {
        if (!account) process.stderr.write(`The record of ${toPrintable(email)} is not valid.\n`);
        return account ? [describe(account, plans)] : [];
      });
    }
  }
  const after = () => {
    const again = Object.entries({ ...options, after: last }).map(([name, value]) =>
      value === true ? `--${name}` : `--${name} ${quote(value)}`,
    );
    return listed === limit ? `There may be more: account list ${again.join(" ")}` : undefined;
  };
  const toRow = (account: AccountFields) => {
    const { email, trialEndsAt, assistantLimit, credits } = account;
    return { email, plan: planInWords(account), trialEndsAt, assistantLimit, credits };
  };
  return { pages: pages(), toRow, whenEmpty: "No accounts found.", after };
}

/** A value as a shell reads it. */
function quote(value: string | number): string {
  const text = String(value);
  return /^[\w.@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
