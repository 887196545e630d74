import { toldColumns } from "@/lib/accounts/account-columns";
import { emailChangeMs } from "@/lib/accounts/email-change";
import { codesKeptMs } from "@/lib/auth/codes/sign-in-code-limits";
import { codeCookieSeconds } from "@/lib/auth/local-sign-in";
import { browserSecretSeconds } from "@/lib/auth/passkeys/passkey-exchange";
import { browserSessionSeconds, sessionTokenSeconds } from "@/lib/auth/sessions/browser-session";
import { describeSeconds } from "@/lib/config/durations";
import {
  answerDays,
  codeMinutes,
  deliveryDays,
  eventDays,
  invitationDays,
  longCodeHours,
  oauthSeconds,
  sessionDays,
} from "@/lib/config/lifetimes";
import { rateLimits } from "@/lib/config/limits";
import { type Settings, settings } from "@/lib/config/settings";
import type { Tables } from "@/lib/db/tables";
import type { DocumentText } from "@/lib/docs/document";
import { linkToPage } from "@/lib/docs/markdown";
import { operatorInWords, supportInWords } from "@/lib/docs/words";
import { appearanceSeconds } from "@/lib/http/appearance";
import { askedPageSeconds } from "@/lib/http/asked-page";
import { probeSeconds } from "@/lib/http/checks/kept-cookies";
import type { CookieName } from "@/lib/http/cookies";
import { dismissedSeconds } from "@/lib/http/dismissed-notice";
import { knownSeconds } from "@/lib/http/known-browser";
import { pages } from "@/lib/http/register/pages";
import { typedEmailSeconds } from "@/lib/http/typed-email";
import { triedForMs } from "@/lib/mail/kind";
import { confirmationMs } from "@/lib/mail/waitlist-confirmation";

const inWords = new Intl.ListFormat("en-GB");

const retention = () => describeSeconds(settings().retentionDays * 24 * 60 * 60);

const isLocal = () => settings().signIn.kind === "local";
const isAtClerk = () => settings().signIn.kind === "clerk";

/** The personal data in each table and until when it is kept. The type makes a new table say what it keeps. */
const keptIn = (): Record<keyof Tables, string | false | undefined> => ({
  accounts: `Your account: ${inWords.format(toldColumns)} | Until your data is erased`,
  email_changes:
    isLocal() &&
    `That you asked for another email: the old and the new one with a hash of its mailbox, when you asked, or one of us for you, each confirmed it and it was changed, and whether Stripe knows | ${describeSeconds(emailChangeMs / 1000)}, twice as long if one of us asked; ${retention()} if it was changed`,
  credit_entries:
    "Every change of your credits: amount, reason and time, which of our systems spent them for what, and for bought ones what was paid, the price and Stripe's id of the checkout | With the account; after an erasure, without anything that names you",
  credit_months:
    "For which month your plan gave you credits last: the plan, its day of the month, how many, and whether that was paid for | Until your data is erased",
  holds:
    "Credits that one of our systems holds for work that goes on: amount, reason, times and what came of it | With the account",
  credit_limits:
    "What you set for your credits: how much may be spent in a month and was, and below how many you want a mail, with when they last were, and which pack is bought automatically, when, how often a month, and why not any more | Until your data is erased",
  backend_writes:
    "What our systems asked about your credits, as a digest, and were answered | With the account; what concerns several accounts stays, after an erasure without anything that names you",
  events: `What happened to your account, told to our own systems by its id: that it was opened or deleted, another entitlement, credits or email, apps connected and ended, purchases and failed payments, with figures and times, and without your email | ${eventDays} days`,
  event_counters: "How many of these there were | Until the last of them is deleted after your account",
  webhook_deliveries: `Which of these were sent to which of our systems, and what that answered | ${deliveryDays} days after they were accepted or given up`,
  waitlist: `The waitlist: your email, when you joined, confirmed it and were invited, and hashes of the mailbox and of the mailed link | ${retention()} after you joined; ${describeSeconds(confirmationMs / 1000)} if you neither confirm nor are invited`,
  invitations: `Your invitation: email, plan, trial, assistant limit, credits, when it was made and accepted, and a hash of the link | ${retention()} after it was made`,
  sign_in_codes:
    isLocal() &&
    `A requested sign-in code: the email typed, and hashes of the code, of the browser's secret and of the network address | ${describeSeconds(codesKeptMs / 1000)}`,
  sign_in_emails:
    isLocal() &&
    `That codes were requested for an email, and a hash of its long code | Until the long code expires, after at most ${describeSeconds(longCodeHours * 60 * 60)}`,
  sign_in_mails: `A mail with a code or an invitation, or about the waitlist, a sign-in, an app, a passkey, a change of email, the end of your account, the end of your trial or plan, or credits that are few, encrypted | Until it is delivered, or its code (${describeSeconds(codeMinutes * 60)}, a long one ${describeSeconds(longCodeHours * 60 * 60)}) or its link (${describeSeconds(invitationDays * 24 * 60 * 60)}) expires; one about access for at most ${describeSeconds(triedForMs / 1000)}`,
  sign_in_mail_attempts: `When such a mail was sent to your email, and why not if it was not | ${retention()}`,
  local_sessions: `Your sessions: the kind of browser and system, or the app's name and where its answers go, the beginning with its coarse network (an IPv4 /24 or IPv6 /48), the hour of the last use, the minute and the answer of an app's last check, the last coarse networks that it got tokens from or was used from and when they were in turn, since when its tokens are bound to its key, and for a browser when and how you last confirmed that it is you, with hashes of its secrets | Until they end: after ${sessionDays.idle} days without use, and at most after ${sessionDays.browser} days for a browser and ${sessionDays.app} for an app. That an app ended and why: ${sessionDays.ended} days more`,
  app_answers: `What each of your apps was told about your account when that changed, and when | ${answerDays} days`,
  billing_customers:
    "Your id at Stripe, and what we give your account besides the plan you bought | Until your data is erased",
  billing_subscriptions:
    "Your plans at Stripe: state, periods with the day on which they begin, and what is due of open invoices and when it is charged again, no payment details | Until your data is erased",
  billing_checkouts: "Your checkouts: what was bought, when, and how it ended | Until your data is erased",
  billing_payments:
    "Your payments at Stripe: amount and currency, when, for which purchase, and what was refunded or disputed, no payment details | Until your data is erased",
  billing_licence_prices: undefined,
  hook_deliveries: undefined,
  plans: undefined,
  plan_versions: undefined,
  changed_plans: undefined,
  billing_unclaimed:
    "That something was bought at Stripe with your email before there was an account: its id at Stripe and when | Until you have the account, it is refunded, or your data is erased",
  billing_progress: undefined,
  passkeys:
    isLocal() &&
    "Your passkeys: a public key, its name, when it was added and last used | Until you remove them, or your data is erased",
  passkey_challenges: undefined,
  passkey_offers: isLocal() && "That you put the offer of a passkey away | Until your data is erased",
  connect_state: `What your connected apps may do, and their unanswered requests, with the network of a device that asks | Until they expire, after at most ${describeSeconds(oauthSeconds.grant)}`,
  onboarding_emails: `Which onboarding emails were due and sent, and why not, with a hash of your email | ${retention()} after they were due`,
  email_suppressions:
    "That you want no onboarding emails, as a hash of your email | For good, so that none is sent again",
  status_outages: undefined,
  clerk_users:
    isAtClerk() && "Your id and email at Clerk, and whether you are banned there | Until your data is erased",
  clerk_sessions_ended:
    isAtClerk() && `The ids of your sessions that ended at Clerk | ${retention()} after they ended`,
  audit_entries: `The audit: who changed what of your account, and when, with your email | ${retention()}`,
  connect_clients: undefined,
  operator_passkeys: undefined,
  operator_sessions: undefined,
  operators: undefined,
  signing_keys: undefined,
  link_keys: undefined,
  site_banner: undefined,
  backends: undefined,
  backend_keys: undefined,
  event_numbers: undefined,
  ledger_numbers: undefined,
  webhooks: undefined,
});

/** Each of our cookies. The type makes a new cookie say what it is for. */
const cookies = (): Record<CookieName, string | false | undefined> => ({
  __session: isLocal() && `Shows that you are signed in | ${describeSeconds(sessionTokenSeconds)}`,
  "office-client": isLocal() && `Keeps you signed in | ${describeSeconds(browserSessionSeconds)}`,
  "office-code": isLocal() && `Ties a sign-in code to your browser | ${describeSeconds(codeCookieSeconds)}`,
  "office-passkey":
    isLocal() && `Ties a sign-in by passkey to your browser | ${describeSeconds(browserSecretSeconds)}`,
  "office-back": isLocal()
    ? `Leads you to the page that you asked for before you signed in, or back to the one that asked you to confirm that it is you | ${describeSeconds(codeCookieSeconds)}`
    : `Leads you to the page that you asked for before you signed in | ${describeSeconds(askedPageSeconds)}`,
  "office-known":
    isLocal() &&
    `Shows that you have signed in with this browser before, when, and to which account, so that strangers cannot use up your sign-in codes or your share of our limits | ${describeSeconds(knownSeconds)}`,
  "office-email": `Keeps the email that you typed for the next form | ${describeSeconds(typedEmailSeconds)}`,
  "office-request": `Names the apps that wait for your approval | ${describeSeconds(Math.max(oauthSeconds.request, oauthSeconds.deviceCode))}`,
  "office-notice": `Remembers the notice that you dismissed | ${describeSeconds(dismissedSeconds)}`,
  "office-look": `Keeps the look that you chose for the pages | ${describeSeconds(appearanceSeconds)}`,
  "office-probe": `Shows that your browser keeps cookies | ${describeSeconds(probeSeconds)}`,
});

export const privacy: DocumentText = {
  title: "Privacy",
  summary: "The personal data that this service keeps, for how long, who gets it, and how it is erased.",
  markdown: () => {
    const { privacyUrl } = settings();
    return privacyUrl ? `${operatorInWords()} The privacy policy is at <${privacyUrl}>.\n` : ownText();
  },
};

const ownText = () => `${operatorInWords()} ${supportInWords()}

The service keeps the data that it needs to let you sign in and to say whether your plan is active. There is no advertising, no tracking and no profile, and no data is sold. Your assistants, their work and your other apps stay in your own apps: this service never sees them.

## The data we keep

| Data | Kept |
| --- | --- |
${rowsOf([
  ...Object.values(keptIn()),
  settings().mail.kind === "files" && `The mails to you, in files | ${retention()} after they were written`,
])}

Expired data is deleted every hour, and from backups when the operator deletes those. To limit abuse, requests are counted under a hash of the network address, for ${describeSeconds(rateLimits.waitlist.windowSeconds)} at most. The log of requests has no network address, no email and no content.

## Cookies

All of them serve what you have asked for. None follows you to another site.

| Cookie | Purpose | Kept for |
| --- | --- | --- |
${rowsOf(Object.entries(cookies()).map(([name, row]) => row && `\`${name}\` | ${row}`))}

Over HTTPS, the names of the \`office-\` cookies begin with \`__Host-\`.${isAtClerk() ? " Clerk, which signs you in, sets cookies of its own." : ""}

## Others who get data

${recipients(settings())
  .map((line) => `- ${line}`)
  .join("\n")}

The pages load nothing from other sites${isAtClerk() ? ", except Clerk's script on the sign-in and invitation pages and on those of your account" : ""}.

## Your data, and its erasure

At ${linkToPage(pages.access)} you see your sessions and connected apps and end them; at ${linkToPage(pages.account)} you download everything that is kept about you. Every onboarding email has a link that stops the later ones; mail about sign-in goes on.

${erasureByOwner()} An erasure removes your email, in every spelling, from every table and from the mails that were written to files. The changes of your credits and the states of sent mails stay under another id, so that the accounts add up and the links in delivered mails keep working. Only a hash of your email stays, with whether it wants no mail.
`;

/** The rows that apply, in Markdown. */
function rowsOf(rows: (string | false | undefined)[]): string {
  return rows.flatMap((row) => (row ? [`| ${row} |`] : [])).join("\n");
}

function erasureByOwner(): string {
  if (isLocal())
    return `You delete your account at ${linkToPage(pages.account)}: it is erased a day later, and until then the mail about it has a link that keeps it.`;
  const atClerk = isAtClerk() ? " Deleting your user at Clerk deletes your account here at once." : "";
  return `To have your data erased, ask the operator.${atClerk}`;
}

/** Everyone outside who gets data, by the settings that are on. */
export function recipients(given: Settings): string[] {
  const { signIn, mail, billing, databaseUrl, redis, upstash, onVercel } = given;
  return [
    "The operator, who can read and change the data above. Each change is recorded in the audit.",
    "The apps that you approve: they can read your plan and your credits, until you disconnect them.",
    signIn.kind === "clerk" && "Clerk, which signs you in: your email and your sessions.",
    mail.kind !== "files" &&
      `${mail.kind === "resend" ? "Resend, which" : "The mail server that"} delivers our mail: your email, and the mails.`,
    billing !== undefined &&
      "Stripe, which takes payments: your email, the id of your account, what you buy, and your payment details, which we never see.",
    databaseUrl !== undefined && "The PostgreSQL server that stores the data above for us.",
    redis !== undefined && "The Redis server that keeps the request counters: hashes of network addresses.",
    upstash !== undefined && "Upstash, which keeps the request counters: hashes of network addresses.",
    onVercel && "Vercel, which runs the service: your requests, with their network addresses.",
  ].filter((line) => line !== false);
}
