import { browserSessionSeconds, sessionTokenSeconds } from "@/lib/auth/browser-session";
import { codeCookieSeconds } from "@/lib/auth/local-sign-in";
import { browserSecretSeconds } from "@/lib/auth/passkey-sign-in";
import { codesKeptMs } from "@/lib/auth/sign-in-code-allowances";
import { confirmationMs } from "@/lib/auth/waitlist-confirmation";
import { codeMinutes, describeSeconds, invitationDays, longCodeHours } from "@/lib/config/durations";
import { rateLimits } from "@/lib/config/limits";
import { sessionDays } from "@/lib/config/session-lifetimes";
import { type Settings, type SignIn, settings } from "@/lib/config/settings";
import type { Tables } from "@/lib/db/tables";
import type { DocumentPage } from "@/lib/docs/document";
import { linkToPage } from "@/lib/docs/links";
import { table } from "@/lib/docs/markdown";
import { operatorInWords, supportInWords } from "@/lib/docs/words";
import { boughtSeconds, type CookieName } from "@/lib/http/cookies";
import { probeSeconds } from "@/lib/http/handler";
import { knownSeconds } from "@/lib/http/known-browser";
import { dismissedSeconds } from "@/lib/http/notice";
import { documentPages, pages } from "@/lib/http/pages";
import { typedEmailSeconds } from "@/lib/http/typed-email";
import { securityMailMs } from "@/lib/mail/outbox";
import { lifetimes } from "@/lib/oauth/lifetimes";

/** Personal data in one table, and until when it stays there. */
type Kept = { what: string; until: string; under?: SignIn["kind"] };

const retention = () => describeSeconds(settings().retentionDays * 24 * 60 * 60);

/** Every table of the store; `undefined` for one without personal data. The type makes a new table say what it keeps. */
const keptIn = (): Record<keyof Tables, Kept | undefined> => ({
  accounts: {
    what: "Your account: email, plan, end of the trial and the mails about it, assistant limit, credits",
    until: "Until your data is erased",
  },
  credit_entries: {
    what: "Every change of your credits: amount, reason and time",
    until: "With the account; after an erasure, without anything that names you",
  },
  waitlist: {
    what: "The waitlist: your email, when you joined, confirmed it and were invited, and hashes of the mailbox and of the mailed link",
    until: `${retention()} after you joined; ${describeSeconds(confirmationMs / 1000)} if you neither confirm nor are invited`,
  },
  invitations: {
    what: "Your invitation: email, plan, credits, and a hash of the link",
    until: `${retention()} after it was made`,
  },
  sign_in_codes: {
    what: "A requested sign-in code: the email typed, and hashes of the code, of the browser's secret and of the network address",
    until: describeSeconds(codesKeptMs / 1000),
    under: "local",
  },
  sign_in_emails: {
    what: "That codes were requested for an email, and a hash of its long code",
    until: `Until the long code expires, after at most ${describeSeconds(longCodeHours * 60 * 60)}`,
    under: "local",
  },
  sign_in_mails: {
    what: "A mail with a code or an invitation, or about the waitlist, a sign-in, an app, a passkey or the end of your trial or licence, encrypted",
    until: `Until it is delivered, or its code (${describeSeconds(codeMinutes * 60)}, a long one ${describeSeconds(longCodeHours * 60 * 60)}) or its link (${describeSeconds(invitationDays * 24 * 60 * 60)}) expires; one about access for at most ${describeSeconds(securityMailMs / 1000)}`,
  },
  sign_in_mail_attempts: {
    what: "When such a mail was sent to your email, and why not if it was not",
    until: retention(),
  },
  local_sessions: {
    what: "Your sessions: the kind of browser and system, or the app's name and where its answers go, the beginning with its coarse network (an IPv4 /24 or IPv6 /48), the hour of the last use, and the minute and the answer of an app's last check",
    until: `Until they end: after ${sessionDays.idle} days without use, and at most after ${sessionDays.browser} days for a browser and ${sessionDays.app} for an app. That an app ended and why: ${sessionDays.ended} days more`,
  },
  billing_customers: {
    what: "Your id at Stripe, and what we give your account besides the licence you bought",
    until: "Until your data is erased",
  },
  billing_subscriptions: {
    what: "Your licences at Stripe: state, periods and what is due of the last invoice, no payment details",
    until: "Until your data is erased",
  },
  billing_checkouts: {
    what: "Your checkouts: what was bought, when, and how it ended",
    until: "Until your data is erased",
  },
  passkeys: {
    what: "Your passkeys: a public key, its name, when it was added and last used",
    until: "Until you remove them, or your data is erased",
    under: "local",
  },
  passkey_challenges: undefined,
  passkey_offers: {
    what: "That you put the offer of a passkey away",
    until: "Until your data is erased",
    under: "local",
  },
  connect_state: {
    what: "What your connected apps may do, and their unanswered requests, with the network of a device that asks",
    until: `Until they expire, after at most ${describeSeconds(lifetimes.grant)}`,
  },
  onboarding_emails: {
    what: "Which onboarding emails were due and sent, with a hash of your email",
    until: `${retention()} after they were due`,
  },
  email_suppressions: {
    what: "That you want no onboarding emails, as a hash of your email",
    until: "For good, so that none is sent again",
  },
  status_outages: undefined,
  clerk_users: {
    what: "Your id and email at Clerk, and whether Clerk has locked you out",
    until: "Until your data is erased",
    under: "clerk",
  },
  clerk_sessions_ended: {
    what: "The ids of your sessions that ended at Clerk",
    until: `${retention()} after they ended`,
    under: "clerk",
  },
  audit_entries: {
    what: "The audit: who changed what of your account, and when, with your email",
    until: retention(),
  },
  connect_clients: undefined,
  operator_passkeys: undefined,
  operator_sessions: undefined,
  operators: undefined,
  signing_keys: undefined,
  link_keys: undefined,
  site_banner: undefined,
});

/** Where no mail server is configured. */
const mailFiles = (): Kept => ({
  what: "The mails to you, in files",
  until: `${retention()} after they were written`,
});

/** Each of our cookies. The type makes a new cookie say what it is for. */
const cookies: Record<CookieName, Kept> = {
  __session: {
    what: "Shows that you are signed in",
    until: describeSeconds(sessionTokenSeconds),
    under: "local",
  },
  "office-client": {
    what: "Keeps you signed in",
    until: describeSeconds(browserSessionSeconds),
    under: "local",
  },
  "office-code": {
    what: "Ties a sign-in code to your browser",
    until: describeSeconds(codeCookieSeconds),
    under: "local",
  },
  "office-passkey": {
    what: "Ties a sign-in by passkey to your browser",
    until: describeSeconds(browserSecretSeconds),
    under: "local",
  },
  "office-back": {
    what: "Leads you back to the page on which you were asked to confirm that it is you",
    until: describeSeconds(codeCookieSeconds),
    under: "local",
  },
  "office-known": {
    what: "Shows that you have signed in with this browser before, so that strangers cannot use up your sign-in codes",
    until: describeSeconds(knownSeconds),
    under: "local",
  },
  "office-email": {
    what: "Keeps the email that you typed for the next form",
    until: describeSeconds(typedEmailSeconds),
  },
  "office-request": {
    what: "Names the app that waits for your approval",
    until: describeSeconds(Math.max(lifetimes.request, lifetimes.deviceCode)),
  },
  "office-notice": {
    what: "Remembers the notice that you dismissed",
    until: describeSeconds(dismissedSeconds),
  },
  "office-bought": {
    what: "Says once that your purchase is complete",
    until: describeSeconds(boughtSeconds),
  },
  "office-probe": { what: "Shows that your browser keeps cookies", until: describeSeconds(probeSeconds) },
};

const applies = ({ under }: Kept) => under === undefined || under === settings().signIn.kind;

export const privacy: DocumentPage = {
  path: documentPages.privacy.path,
  title: "Privacy",
  summary: "The personal data that this service keeps, for how long, who gets it, and how it is erased.",
  markdown: () => {
    const { privacyUrl } = settings();
    return privacyUrl
      ? `# Privacy\n\n${operatorInWords()} The privacy policy is at <${privacyUrl}>.\n`
      : ownText();
  },
};

const ownText = () => `# Privacy

${operatorInWords()} ${supportInWords()}

The service keeps the data that it needs to let you sign in and to say whether your company may run. There is no advertising, no tracking and no profile, and no data is sold. Your assistants, their work and your other apps stay in your own apps: this service never sees them.

## The data we keep

${table(
  ["Data", "Kept"],
  Object.values(keptIn())
    .filter((kept) => kept !== undefined)
    .filter(applies)
    .concat(settings().mail.kind === "files" ? mailFiles() : [])
    .map(({ what, until }) => [what, until]),
)}

Expired data is deleted every hour, and from backups when the operator deletes those. To limit abuse, requests are counted under a hash of the network address, for ${describeSeconds(rateLimits.waitlist.windowSeconds)} at most. The log of requests has no network address, no email and no content.

## Cookies

All of them serve what you have asked for. None follows you to another site.

${table(
  ["Cookie", "Purpose", "Kept for"],
  Object.entries(cookies)
    .filter(([, cookie]) => applies(cookie))
    .map(([name, { what, until }]) => [`\`${name}\``, what, until]),
)}

Over HTTPS, the names of the \`office-\` cookies begin with \`__Host-\`.${settings().signIn.kind === "clerk" ? " Clerk, which signs you in, sets cookies of its own." : ""}

## Others who get data

${recipients(settings())
  .map((line) => `- ${line}`)
  .join("\n")}

The pages load nothing from other sites${settings().signIn.kind === "clerk" ? ", except Clerk's script on the sign-in and invitation pages and on those of your account" : ""}.

## Your data, and its erasure

At ${linkToPage(pages.access)} you see your sessions and connected apps and end them; at ${linkToPage(pages.account)} you download everything that is kept about you. Every onboarding email has a link that stops the later ones; mail about sign-in goes on.

${erasureByOwner()} An erasure removes your email, in every spelling, from every table and from the mails that were written to files. The changes of your credits and the states of sent mails stay under another id, so that the accounts add up and the links in delivered mails keep working. Only a hash of your email stays, with whether it wants no mail.
`;

function erasureByOwner(): string {
  const { signIn } = settings();
  if (signIn.kind === "local")
    return `You delete your account at ${linkToPage(pages.account)}: it is erased a day later, and until then the mail about it has a link that keeps it.`;
  const atClerk =
    signIn.kind === "clerk" ? " Deleting your user at Clerk deletes your account here at once." : "";
  return `To have your data erased, ask the operator.${atClerk}`;
}

/** Everyone outside who gets data, by the settings that are on. */
export function recipients(given: Settings): string[] {
  const { signIn, mail, billing, databaseUrl, redis, upstash, onVercel } = given;
  const byMail: Record<typeof mail.kind, string | false> = {
    resend: "Resend, which delivers our mail: your email, and the mails.",
    smtp: "The mail server that delivers our mail: your email, and the mails.",
    files: false,
  };
  return [
    "The operator, who can read and change the data above. Each change is recorded in the audit.",
    "The apps that you approve: they can read whether your company may run, and your credits, until you disconnect them.",
    signIn.kind === "clerk" && "Clerk, which signs you in: your email and your sessions.",
    byMail[mail.kind],
    billing !== undefined &&
      "Stripe, which takes payments: your email, the id of your account, what you buy, and your payment details, which we never see.",
    databaseUrl !== undefined && "The PostgreSQL server that stores the data above for us.",
    redis !== undefined && "The Redis server that keeps the request counters: hashes of network addresses.",
    upstash !== undefined && "Upstash, which keeps the request counters: hashes of network addresses.",
    onVercel && "Vercel, which runs the service: your requests, with their network addresses.",
  ].filter((line) => line !== false);
}
