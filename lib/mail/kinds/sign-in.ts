import * as z from "zod";
import { codeMinutes, longCodeHours } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { ownerPages } from "@/lib/http/register/pages";
import { hasOwner, mailTo, mailToOwner } from "@/lib/mail/kind";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";

const code = z.object({
  to: z.string(),
  code: z.string(),
  isLong: z.boolean().default(false),
  browser: z.string().optional(),
});
const browser = z.object({ to: z.string(), name: z.string(), atMs: z.int() });
/** Mails of earlier releases name no network. */
const newBrowser = browser.extend({ network: z.string().nullish() });
const passkey = browser.extend({ change: z.enum(["added", "removed"]) });

export const signInMails = {
  code: mailTo(code, {
    isWanted: hasOwner,
    examples: () => ({
      code: { code: "123456", isLong: false, browser: "Chrome on Windows" },
      "long-code": { code: "ABCD2345EFGH", isLong: true },
    }),
    text({ code, isLong, browser }) {
      const inFours = code.replace(/(.{4})(?=.)/g, "$1-");
      if (isLong) return longCodeText(inFours);
      const shown = code.length > 6 ? inFours : code;
      return {
        subject: `${shown} is your sign-in code`,
        heading: "Your sign-in code",
        preview: `It works once and expires in ${codeMinutes} minutes.`,
        body: [
          { code: shown },
          ...(browser ? [{ facts: { "Requested in": browser } }] : []),
          `Enter it in the browser that requested it, within ${codeMinutes} minutes. It works once. No one at Corner Office asks you for it.`,
        ],
        footer: ["If you didn’t request it, ignore this email: no one can sign in without the code."],
      };
    },
  }),
  /** A sign-in in a browser that had not signed in to the account before. */
  "new browser": mailToOwner(newBrowser, {
    examples: (atMs) => ({ "new-browser": { name: "Chrome on Windows", network: "203.0.113.0/24", atMs } }),
    text: ({ name, network, atMs }, zone) => ({
      subject: "A new browser signed in to your account",
      preview: `${name}, on ${formatInstant(atMs, zone)}`,
      body: [
        { facts: { Browser: name, Network: network ?? undefined, When: formatInstant(atMs, zone) } },
        "If that was you, you have nothing to do. If it wasn’t, sign out the other browsers now, and change the password of your mailbox: anyone who can read your email can sign in with our codes.",
        linkTo(ownerPages.access, "Sign out other browsers", "danger"),
      ],
    }),
  }),
  /** A browser that is used from several networks in turn, once for each sign-in. */
  "browser in turn": mailToOwner(browser, {
    examples: (atMs) => ({ "browser-in-turn": { name: "Chrome on Windows", atMs } }),
    text: ({ name, atMs }, zone) => ({
      subject: "A browser of yours is used from several places",
      preview: `${name}, on ${formatInstant(atMs, zone)}`,
      body: [
        "It is signed in to your account, and goes back and forth between networks.",
        { facts: { Browser: name, "Last on": formatInstant(atMs, zone) } },
        "That is usual for a phone or a laptop on the move, a VPN, and some connections at home. You then have nothing to do, and we won’t write about this sign-in again.",
        "If it stays in one place, someone may have copied its sign-in: look at its networks, sign it out, and sign in again. No copy works then.",
        linkTo(ownerPages.access, "See its networks", "optional"),
      ],
    }),
  }),
  passkey: mailToOwner(passkey, {
    examples: (atMs) => ({
      "passkey-added": { change: "added" as const, name: "Chrome on macOS", atMs },
      "passkey-removed": { change: "removed" as const, name: "Chrome on macOS", atMs },
    }),
    text({ change, name, atMs }, zone) {
      const { appUrl, supportEmail } = settings();
      const { next, undo, press, is } = passkeyChanges[change];
      return {
        subject: `A passkey was ${change}`,
        preview: next,
        body: [
          next,
          { facts: { Passkey: name, When: formatInstant(atMs, zone) } },
          `If that was you, you have nothing to do. If it wasn’t, sign in with a code, ${undo}, and sign out all other browsers.${supportEmail ? ` Then write to ${supportEmail}.` : ""}`,
          { label: press, url: `${appUrl}${ownerPages.access.path}#ways`, is },
        ],
        footer: ["We always email you when your passkeys change."],
      };
    },
  }),
};

const passkeyChanges = {
  added: {
    next: "It can now sign in to your account without a code.",
    undo: "remove this passkey",
    press: "Remove this passkey",
    is: "danger",
  },
  removed: {
    next: "It can no longer sign in to your account. A code by email still can.",
    undo: "remove passkeys that you do not know",
    press: "Check your passkeys",
    is: "optional",
  },
} as const;

function longCodeText(code: string): MailContent {
  return {
    subject: `${code} is your long sign-in code`,
    heading: "Your long sign-in code",
    preview: `It works once and expires in ${longCodeHours} hours.`,
    body: [
      "Many codes were requested for this email today, so this one is too long to guess:",
      { code },
      `Enter it where you sign in, in any browser, within ${longCodeHours} hours. It works once. Keep this email: no other code is sent until you use it or it expires. No one at Corner Office asks you for it.`,
    ],
    footer: [
      "If you didn’t request it, ignore this email: no one can sign in without the code, and these requests don’t lock you out.",
    ],
  };
}
