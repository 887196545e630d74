import { codeMinutes, confirmationDays, invitationDays, longCodeHours } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { ownerPages } from "@/lib/http/register/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";

/** The mail with a sign-in code. */
export function codeMail({ code, isLong }: { code: string; isLong: boolean }): MailContent {
  const inFours = code.replace(/(.{4})(?=.)/g, "$1-");
  if (isLong) return longCodeMail(inFours);
  const shown = code.length > 6 ? inFours : code;
  return {
    subject: `${shown} is your sign-in code`,
    heading: "Your sign-in code",
    preview: `It works once and expires in ${codeMinutes} minutes.`,
    body: [
      "Enter this code where you requested it:",
      { code: shown },
      `It works once, in the browser that requested it, and expires in ${codeMinutes} minutes. We’ll never ask for this code.`,
    ],
    footer: ["If you didn’t request it, ignore this email: no one can sign in without the code."],
  };
}

function longCodeMail(code: string): MailContent {
  return {
    subject: `${code} is your long sign-in code`,
    heading: "Your long sign-in code",
    preview: `It works once and expires in ${longCodeHours} hours.`,
    body: [
      "Many codes were requested for this email today, so this one is too long to guess:",
      { code },
      `Enter it where you sign in, in any browser. It works once and expires in ${longCodeHours} hours. Keep this email: no other code is sent until you use it or it expires. We’ll never ask for this code.`,
    ],
    footer: [
      "If you didn’t request it, ignore this email: no one can sign in without the code, and these requests don’t lock you out.",
    ],
  };
}

/** The mail with an invitation. */
export function invitationMail({ url, isOnWaitlist }: { url: string; isOnWaitlist: boolean }): MailContent {
  return {
    subject: "Your invitation to Corner Office",
    preview: "Your place is ready.",
    body: [
      `${isOnWaitlist ? "You joined our waitlist, and your" : "Your"} place in Corner Office is ready. You run a company of AI assistants: they work in your own apps, and nothing is sent, published, deployed or charged until you approve it there.`,
      { label: "Open your account", url },
      `The link works once, only for this email, and expires in ${invitationDays} days.`,
    ],
    footer: [
      isOnWaitlist
        ? "You received this email because this address joined our waitlist. If that wasn’t you, ignore it."
        : "You received this email because someone invited you. If that was a mistake, ignore it.",
    ],
  };
}

/** The mail that asks whether an email on the waitlist is its reader's. */
export function confirmationMail({ url }: { url: string }): MailContent {
  return {
    subject: "Confirm your place on the waitlist",
    preview: "So that we know this address is yours.",
    body: [
      "This address joined the waitlist of Corner Office. Confirm that it is yours, and we email you once more: when your place is ready.",
      { label: "Confirm the address", url },
      `The link works for ${confirmationDays} days. An address that is not confirmed by then leaves the waitlist.`,
    ],
    footer: [
      "If you didn’t join, ignore this email: the address leaves the waitlist, and gets at most one such email a week.",
    ],
  };
}

/** The mail about a sign-in in a browser that had not signed in to the account before. */
export function newBrowserMail({ name, atMs }: { name: string; atMs: number }): MailContent {
  return {
    subject: "A new browser signed in to your account",
    preview: `${name}, on ${formatInstant(atMs)}`,
    body: [
      "A browser that you had not used before signed in to your account:",
      { points: [`Browser: ${name}`, `Time: ${formatInstant(atMs)}`] },
      "If that was you, you have nothing to do.",
      "If it wasn’t, sign out all other browsers on your access page now, and change the password of your mailbox: anyone who can read your email can sign in with the codes that we send there.",
      linkTo(ownerPages.access),
    ],
  };
}

/** The mail about a browser that is used from several networks in turn, once for each sign-in. */
export function browserInTurnMail({ name, atMs }: { name: string; atMs: number }): MailContent {
  return {
    subject: "A browser is used from several networks in turn",
    preview: `${name}, on ${formatInstant(atMs)}`,
    body: [
      `A browser that is signed in to your account was used from several networks in turn, the last time on ${formatInstant(atMs)}:`,
      { points: [`Browser: ${name}`] },
      "That is usual for a phone or a laptop that you carry around, for a VPN, and for a connection with both kinds of address, IPv4 and IPv6. You then have nothing to do, and we won’t write about this sign-in again.",
      "If it is used in one place, someone else may have a copy of its cookie. Your access page shows the networks. End it there from another browser, or sign out in it, and sign in again: no copy works then.",
      linkTo(ownerPages.access),
    ],
  };
}

type PasskeyMail = { change: "added" | "removed"; name: string; atMs: number };

/** The mail about a passkey that was added or removed. */
export function passkeyMail({ change, name, atMs }: PasskeyMail): MailContent {
  const { appUrl, supportEmail } = settings();
  const next =
    change === "added"
      ? "It can now sign in to your account without a code."
      : "It can no longer sign in to your account. A code by email still can.";
  const undo =
    change === "added"
      ? "sign in with a code, remove this passkey, and end all other sessions."
      : "sign in with a code, remove passkeys that you do not know, and end all other sessions.";
  return {
    subject: `A passkey was ${change}`,
    preview: next,
    body: [
      `The passkey “${name}” was ${change} on ${formatInstant(atMs)}. ${next}`,
      "If that was you, you have nothing to do.",
      `If it wasn’t, ${undo}${supportEmail ? ` Then write to ${supportEmail}.` : ""}`,
      { label: "See your ways to sign in", url: `${appUrl}${ownerPages.access.path}#ways` },
    ],
    footer: ["We always email you when your passkeys change."],
  };
}
