import { type Account, describeAccount } from "@/lib/accounts/account";
import { deleteAccount, findAccount, listAccounts, setAccount } from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { askForEmail } from "@/lib/accounts/email-change";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { changeGift } from "@/lib/accounts/terms/gift";
import { act, changesBetween, option, shellAct } from "@/lib/admin/act";
import {
  limitsInWords,
  parseCount,
  parseEmail,
  parseReference,
  parseSlug,
  parseWords,
} from "@/lib/admin/arguments";
import { asLines, type Listing, type Result } from "@/lib/admin/print";
import { accountFields, accountFormFields, giftInWords, type TypedTerms, toTerms } from "@/lib/admin/terms";
import { listPasskeys } from "@/lib/auth/passkeys/passkeys";
import { mintLocalSubject } from "@/lib/auth/sessions/session";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { contentsOf, type Plans, readPlans } from "@/lib/plans/plan";
import { findCustomer } from "@/lib/plans/purchases";
import { describeTerms, type Gift, giftOf, givenTerms } from "@/lib/plans/terms";
import { toPrintable } from "@/lib/runtime/printable";

type ListOptions = { plan?: string; ended?: true; containing?: string; after?: string; limit?: number };

const addAccountAct = shellAct({
  usage: "add <email>",
  words: "create an account, with its onboarding emails",
  examples: [
    "account add ceo@example.com --plan trial --trial-days 14 --credits 100",
    "account add ceo@example.com --plan licensed --assistant-limit 12",
  ],
  fields: accountFields,
  async run({ db, nowMs }, { email, ...typed }: TypedTerms & { email: string }) {
    const terms = toTerms(typed);
    // Clerk assigns the subject: by its webhook, or the operator passes --subject.
    terms.subject ??= settings().signIn.kind === "clerk" ? undefined : mintLocalSubject();
    return toResult(db, await addAccount(db, email, terms, nowMs));
  },
});

export const setAccountAct = act({
  usage: "set <email>",
  words: "change an account; options that you leave out keep their values",
  effect: {
    does: "Apps are told so from their next check on. Once what you give ends, the account goes back to what it had before. What Stripe charges does not change.",
    undo: "Another change takes it back.",
  },
  examples: [
    "account set ceo@example.com --plan licensed",
    "account set ceo@example.com --feature voice --limit projects=50",
    "account set ceo@example.com --plan studio --until 2027-01-31",
    "account set ceo@example.com --plan trial --trial-ends 2027-01-31T09:00:00Z",
    "account set ceo@example.com --reference customer-7",
  ],
  fields: {
    ...accountFields,
    reference: {
      option: "--reference <text>",
      words: "your own name for it, which no other account has, or none",
      parse: (text) => (text === "none" ? null : parseReference(text)),
    },
  },
  isPartial: true,
  form: {
    path: "/account/terms",
    name: "change the plan",
    done: "Saved. The API answers by it from now on.",
    audited: "account set",
  },
  async run({ db, by, nowMs, requireSeen }, { email, ...typed }: TypedTerms & { email: string }) {
    const { id } = await findAccount(db, email);
    const requireSame = ({ given, end }: Gift) => {
      const now = describeChanges(null, { ...given, given_ends_at_ms: end?.atMs ?? null });
      const fields = accountFormFields({ id, ...given, given_ends_at_ms: end?.atMs ?? null });
      requireSeen(fields, `Someone changed this account meanwhile. It is now: ${now}.`);
    };
    const account = await setAccount(db, email, { ...toTerms(typed), by, requireSame }, nowMs);
    return toResult(db, account, await describeSources(db, account));
  },
  async preview({ db, nowMs }, { email, ...typed }) {
    const account = await findAccount(db, email, nowMs);
    const now = giftOf(account, await findCustomer(db, account.id));
    const then = changeGift(now, toTerms(typed), nowMs);
    const plans = await readPlans(db);
    const inWords = (gift: Gift) => giftInWords(gift, plans, nowMs);
    return { whom: email, changes: changesBetween(inWords(now), inWords(then)) };
  },
});

export const deleteAccountAct = act({
  usage: "delete <email>",
  words: "delete an account and all its data",
  effect: {
    does: "The account goes now, with its credits, history, sessions, apps and passkeys, and its subscription at Stripe ends without a refund. The person can be invited again, to an empty account.",
  },
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
  async preview({ db }, { email }) {
    const row = await accountBy(db, "email", email).selectAll().executeTakeFirst();
    const before = row && `${row.plan}, ${toCredits(row.credit_thousandths)} credits`;
    return { whom: email, changes: [{ what: "Account", before, after: "gone" }] };
  },
});

export const moveAccountAct = act({
  usage: "move <email> <to>",
  words:
    "move an account whose owner cannot read its email any more: both addresses get a mail, and the new one can confirm it a day later",
  effect: {
    does: "For an owner who cannot read their mailbox any more. Be sure who asks you: anyone who reads the new email has the account, with all that is in it. The old email is told now; a day later the new one is asked, and nothing moves until it confirms.",
    undo: "The old email can stop it for a day. After that, another move takes it back.",
  },
  examples: ["account move ceo@example.com new@example.com"],
  fields: { to: { label: "New email", subject: "The new email", parse: parseEmail } },
  form: {
    path: "/account/move",
    name: "move the account to another email",
    done: "The old address was told, and can stop it for a day. Then the new one is asked.",
  },
  async run({ db, by, nowMs, confirm }, { email, to }: { email: string; to: string }) {
    const account = await findMovable(db, email, to);
    await confirm(
      `In a day, whoever reads ${to} can take over the account of ${email}, unless ${email} stops it.`,
    );
    const refused = await askForEmail(db, account, { to, operator: by }, nowMs);
    if (refused) throw new ApiError("invalid_request", moveRefusals[refused]);
    return { json: { asked: to }, text: `${email} was told, and can stop it. ${to} is asked in a day.` };
  },
  async preview({ db }, { email, to }) {
    await findMovable(db, email, to);
    return { whom: email, changes: [{ what: "Email", before: email, after: `${to}, once it confirms` }] };
  },
});

const moveRefusals = {
  same: { message: "The account has this email.", hint: "Name another one." },
  often: {
    message: "This account or the new mailbox was asked three times in a day.",
    hint: "Try again tomorrow.",
  },
};

async function findMovable(db: Db, email: string, to: string): Promise<Account> {
  const account = await findAccount(db, email);
  const whyNot = await findWhyNotMoved(db, to);
  if (whyNot) throw new ApiError("invalid_request", whyNot);
  return account;
}

async function findWhyNotMoved(db: Db, to: string): Promise<{ message: string; hint: string } | undefined> {
  if (settings().signIn.kind !== "local")
    return { message: "The emails of accounts are those of their users at Clerk.", hint: "Change it there." };
  if (await hasRow(accountBy(db, "email", to).select("id")))
    return { message: `${to} has an account.`, hint: "Name another email, or delete that account first." };
  return undefined;
}

const showAct = shellAct({
  usage: "show <email>",
  words: "show an account",
  async run({ db }, { email }: { email: string }) {
    const account = await findAccount(db, email);
    const passkeys = (await listPasskeys(db, account.id)).length;
    return toResult(db, account, { passkeys, ...(await describeSources(db, account)) });
  },
});

const listAct = shellAct({
  usage: "list",
  words: "list the accounts, by email",
  examples: ["account list --plan trial --ended", "account list --limit 50"],
  fields: {
    plan: option("--plan <plan>", "only accounts with this plan", parseSlug),
    ended: { option: "--ended", words: "only ended trials" },
    containing: option("--containing <text>", "only emails that contain this text", parseWords),
    after: { option: "--after <email>", words: "only emails after this one in the alphabet" },
    limit: option("--limit <n>", "the maximum number of rows", parseCount),
  },
  run: async ({ db }, options: ListOptions) => listing(db, options),
});

export const accountActs = [addAccountAct, setAccountAct, moveAccountAct, showAct, listAct, deleteAccountAct];

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
