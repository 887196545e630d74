import { type Account, parseAccount } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { whoseFormerEmail } from "@/lib/accounts/email-change";
import { maxTries } from "@/lib/auth/codes/sign-in-code";
import { codesKeptMs } from "@/lib/auth/codes/sign-in-code-limits";
import { endedApps, toEndedApps, wordsForApp } from "@/lib/auth/sessions/ended-app";
import { currentSessions, type Session, toSessions } from "@/lib/auth/sessions/session";
import { asInstant } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import type { Db } from "@/lib/db/store";
import { pages } from "@/lib/http/register/pages";
import { attemptsTo } from "@/lib/mail/outbox/attempts";
import { decideEntitlement } from "@/lib/plans/entitlement";
import { endWords, type LicenceState } from "@/lib/plans/entitlement-words";
import {
  currentLicence,
  describeDue,
  endOf,
  licenceStateOf,
  selectLicences,
} from "@/lib/plans/licence-state";
import { describeTerms, givenTerms, rowAt } from "@/lib/plans/terms";

export type Facts = ReturnType<typeof toAccountFacts>;

/** Reads what decides whether someone can sign in and what their apps are told. */
export async function readFacts(db: Db, email: string, nowMs: number) {
  return toAccountFacts(await readInOneQuery(db, factQueries(db, email, nowMs)), nowMs);
}

/** The queries that {@link toAccountFacts} reads, all by the email. */
export function factQueries(db: Db, email: string, nowMs: number) {
  const id = accountBy(db, "email", email).select("id").$asScalar();
  return {
    accounts: accountBy(db, "email", email).select(accountAt(nowMs)),
    codes: db
      .selectFrom("sign_in_codes")
      .select(["share", "tries", "created_at_ms", "expires_at_ms"])
      .where("email", "=", email)
      .where("created_at_ms", ">", nowMs - codesKeptMs)
      .orderBy("created_at_ms", "desc"),
    attempts: attemptsTo(db, email),
    sessions: currentSessions(db, nowMs).where("account_id", "=", id),
    ended: endedApps(db, id, nowMs),
    invitations: db
      .selectFrom("invitations")
      .select("expires_at_ms")
      .where("email", "=", email)
      .where("accepted_at_ms", "is", null),
    waiting: db.selectFrom("waitlist").select(["joined_at_ms", "invited_at_ms"]).where("email", "=", email),
    moved: whoseFormerEmail(db, email),
    atClerk: db
      .selectFrom("clerk_users")
      .select("barred_until_ms")
      .where("email", "=", email)
      .where("is_deleted", "=", 0),
    subscriptions: selectLicences(db)
      .select(["invoice_id", "invoice_status"])
      .where("account_id", "=", id)
      .orderBy("created_at_ms", "desc"),
    customers: db
      .selectFrom("billing_customers")
      .select(["customer_id", "licence", "limit_given"])
      .select(["plan_before", "trial_ends_before_ms", "limit_before"])
      .where("account_id", "=", id),
  };
}

export type FactRows = Awaited<ReturnType<typeof readInOneQuery<ReturnType<typeof factQueries>>>>;

export function toAccountFacts({ accounts, codes, attempts, sessions, ...others }: FactRows, nowMs: number) {
  const [found] = accounts;
  const row = found && rowAt(found, nowMs);
  const [[invitation], [waiting], [atClerk]] = [others.invitations, others.waiting, others.atClerk];
  const [moved] = others.moved;
  return {
    nowMs,
    hasAccount: row !== undefined,
    account: parseAccount(row, nowMs),
    codes,
    attempts,
    sessions: toSessions(sessions),
    ended: toEndedApps(others.ended),
    invitation,
    waiting,
    /** The account that had this email before, if it has changed it since. */
    moved,
    atClerk,
    /** The account as an operator gives it, and the customer that Stripe gives a licence. */
    given: parseAccount(row && { ...row, ...givenTerms(row, others.customers[0]) }, nowMs),
    licensed:
      row && others.customers[0]?.licence ? { ...others.customers[0], plan: row.paid_plan } : undefined,
    subscription: currentLicence(others.subscriptions),
  };
}

/** Puts the facts in words: what is not paid, a sentence about signing in, one about apps, and the facts themselves. */
export function explain(facts: Facts) {
  const { nowMs, account, codes, attempts, sessions, invitation, waiting } = facts;
  const at = (ms: number | null | undefined) => asInstant(ms, nowMs);
  const [attempt] = attempts;
  return {
    payment: explainPayment(facts),
    signIn: explainSignIn(facts),
    apps: explainApps(facts),
    facts: {
      account: account ? describePlan(account, nowMs) : facts.hasAccount ? "not readable" : "none",
      licence: facts.licensed ? describeLicence(facts.licensed) : null,
      deletes: at(account?.deletes_at_ms),
      credits: account ? toCredits(spendable(account)) : null,
      sessions: countSessions(sessions),
      lastSeen: at(Math.max(0, ...sessions.map(({ last_seen_at_ms }) => last_seen_at_ms ?? 0)) || null),
      codesInADay: codes.length,
      lastCode: at(codes[0]?.created_at_ms),
      lastMail: attempt
        ? `${attempt.kind}, ${attempt.state} ${at(attempt.at_ms)}${attempt.failure ? `: ${attempt.failure}` : ""}`
        : null,
      invitedUntil: at(invitation?.expires_at_ms),
      joinedWaitlist: at(waiting?.joined_at_ms),
    },
  };
}

/** What a licence waits for that is not paid, not finished or paused, or went back; `null` if there is nothing. */
function explainPayment({ nowMs, subscription }: Facts): string | null {
  if (!subscription) return null;
  const state = licenceStateOf(subscription);
  if (["renews", "free", "cancelled", "ended", "trial over"].includes(state)) return null;
  const { unpaid_since_ms, period_ends_ms, invoice_id, ends_at_ms } = subscription;
  const at = unpaid_since_ms && asInstant(unpaid_since_ms, nowMs);
  const since = !at
    ? ""
    : unpaid_since_ms <= nowMs
      ? ` since ${at}`
      : state === "invoiced"
        ? `, due ${at}`
        : "";
  const sum = describeDue(subscription);
  const latest = (subscription.open_invoices ?? 1) > 1 ? "the latest is " : "";
  const due = sum ? ` ${sum} is due (${latest}${invoice_id}).` : "";
  const has = (ends_at_ms ?? 0) > nowMs ? "ends" : "ended";
  const end = ends_at_ms === null ? "" : ` The licence ${has} ${asInstant(ends_at_ms, nowMs)}.`;
  const next = state === "returned" ? ` Stripe renews it ${asInstant(period_ends_ms, nowMs)}.` : "";
  return `${statesToSupport[state] ?? `The licence is ${state}`}${since}.${due}${end}${next}`;
}

/** How a state is told to support, where the sentence is more than its name. */
const statesToSupport: Partial<Record<LicenceState, string>> = {
  "change unpaid": "The change of the licence is not paid",
  "trial unpaid": "The free trial at Stripe has ended, and what follows is not paid",
  "due beside a gift": "The licence that was bought is not paid; the operator's own runs",
  paying: "A payment is missing, for which a bank was asked; it may take two weeks",
  "late at bank": "A bank was asked for a payment, and has not made it; it may take two weeks",
  overdue: "The invoice that was sent is overdue",
  invoiced: "An invoice was sent",
  "not collected": "Stripe collects no payments: that was paused there",
  pausing: "The licence is paused",
  unfinished: "The first payment is not finished",
  "at bank": "A bank was asked for the first payment, and may take two weeks",
  returned: "What was paid was returned, and Stripe goes on with the subscription",
  unknown: "Stripe does not know the subscription any more",
};

function explainSignIn(facts: Facts): string {
  const { nowMs, account, codes, attempts, sessions, atClerk } = facts;
  const { signIn, appUrl } = settings();
  const at = (ms: number) => asInstant(ms, nowMs);
  if (signIn.kind === "none") return "No one can sign in: SIGN_IN is not set up.";
  if (!account) return facts.hasAccount ? unreadable : explainStranger(facts);
  if (signIn.kind === "clerk") {
    if (account.subject === null)
      return "No user at Clerk has this email yet: they have not signed up there.";
    const barredUntilMs = atClerk?.barred_until_ms ?? 0;
    if (barredUntilMs > nowMs) return "This user is banned at Clerk, whose dashboard lifts that.";
    return "Nothing here stops them. Clerk's dashboard shows their attempts to sign in, and a lock after many wrong ones.";
  }
  const browsers = sessions.filter(({ kind }) => kind === "browser").length;
  const [code] = codes;
  const mail = attempts.find(({ kind }) => kind === "code");
  if (
    !code ||
    code.created_at_ms < Math.max(0, ...sessions.map(({ confirmed_at_ms }) => confirmed_at_ms ?? 0))
  ) {
    if (browsers > 0) return `They are signed in, in ${browsers} browser${browsers === 1 ? "" : "s"}.`;
    return `They can sign in; no code is pending. Sign-in is at ${appUrl}${pages.signIn.path}.`;
  }
  const isAbout = mail !== undefined && mail.at_ms >= code.created_at_ms;
  if (isAbout && mail.state !== "sent") {
    const again = mail.state === "retrying" ? "is being tried again" : "was given up";
    return `The mail with their code was not accepted (${mail.failure}), and ${again}.`;
  }
  if (code.tries >= maxTries) return `They typed ${maxTries} wrong codes. They must ask for another one.`;
  if (code.share === "long") {
    return "So many short codes were asked for in a day that only the long code in their mail works.";
  }
  if (!isAbout) return `They asked for a code ${at(code.created_at_ms)}, and its mail was not sent yet.`;
  const state =
    code.expires_at_ms <= nowMs ? "It has expired: they must ask for another one." : "It is valid.";
  const typed = code.tries > 0 ? `${code.tries} wrong ones were typed` : "it was not typed";
  const where =
    settings().mail.kind === "files"
      ? "It is only in a file: no mail is delivered here."
      : "They should look for it in the spam folder, and type it in the browser that asked for it.";
  return `A code was mailed ${at(mail.at_ms)}, and ${typed}. ${state} ${where}`;
}

const unreadable =
  "The record of the account is not valid. Delete it with 'account delete', and add it again.";

function explainStranger({ nowMs, invitation, waiting, attempts, moved }: Facts): string {
  if (moved) {
    const since = asInstant(moved.changed_at_ms, nowMs);
    return `There is no account with this email: its owner changed it to ${moved.email} at ${since}.`;
  }
  if (invitation && invitation.expires_at_ms <= nowMs) {
    return "There is no account: their invitation expired. Invite them again.";
  }
  if (invitation) {
    const mail = attempts.find(({ kind }) => kind === "invitation");
    const unsent = mail && mail.state !== "sent" ? ` Its mail was not accepted (${mail.failure}).` : "";
    return `There is no account: they have not accepted their invitation.${unsent}`;
  }
  if (waiting) return "There is no account: they are on the waitlist, and were not invited.";
  return "There is no account, no invitation and no entry in the waitlist with this email. Is it spelled like this?";
}

function explainApps({ nowMs, hasAccount, account, sessions, ended, subscription }: Facts): string {
  if (!hasAccount) return "The API answers signed-out: there is no account.";
  if (!account) return `The API answers invalid. ${unreadable}`;
  const answer = decideEntitlement(account, nowMs);
  if (!answer.ok) {
    const { message, hint } = endWords(endOf(account, subscription));
    return `The API answers ${answer.status}. ${message} ${hint()}`;
  }
  const runs = `The API answers ${answer.status}, so apps may run.`;
  const [last] = ended;
  if (sessions.some(({ kind }) => kind !== "browser")) return runs;
  if (!last) return `${runs} No app is connected yet; one that is not is told signed-out.`;
  const since = asInstant(last.expires_at_ms, nowMs);
  return `${runs} No app is connected: “${last.name}” is told signed-out since ${since}. ${wordsForApp[last.ending]}`;
}

function describePlan(account: Account, nowMs: number): string {
  const end = asInstant(account.given_ends_at_ms, nowMs);
  return `${describeTermsOf(account, nowMs)}${end ? `; what is given ends ${end}` : ""}`;
}

function describeTermsOf(account: Account, nowMs: number): string {
  const { plan, given_plan, paid_plan } = account;
  if (plan === "licensed") {
    const given = given_plan ? [given_plan] : [];
    return [...given, ...(paid_plan ? [`${paid_plan} from Stripe`] : [])].join(" and ") || plan;
  }
  if (account.plan !== "trial") return plan;
  const has = account.trial_ends_at_ms <= nowMs ? "ended" : "ends";
  return `trial, ${has} ${asInstant(account.trial_ends_at_ms, nowMs)}`;
}

/** What Stripe gives a customer. */
function describeLicence({ limit_given, plan }: NonNullable<Facts["licensed"]>): string {
  const terms = describeTerms({ plan: plan ?? "licensed", assistant_limit: limit_given });
  return `Stripe gives ${terms}, while the subscription is paid`;
}

/** For example `2 browser sessions and 1 app session`. */
export function countSessions(sessions: Session[]): string {
  const kinds = [...new Set(sessions.map(({ kind }) => kind))].map((kind) => {
    const count = sessions.filter((session) => session.kind === kind).length;
    return `${count} ${kind} session${count === 1 ? "" : "s"}`;
  });
  return kinds.length > 0 ? new Intl.ListFormat("en").format(kinds) : "0 sessions";
}
