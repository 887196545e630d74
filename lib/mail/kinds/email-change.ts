import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { ownerPages } from "@/lib/http/register/pages";
import { findTimeZone, mailAbout, mailTo, type Zone } from "@/lib/mail/kind";
import { emailChangeUrl, findEmailChange, isWaiting } from "@/lib/mail/links/email-change-token";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";

/** To one of the two mailboxes of a change of email: whether that is wanted. `other` is the new email. */
const asked = z.object({
  to: z.string(),
  id: z.string(),
  side: z.enum(["from", "to"]),
  other: z.string(),
  untilMs: z.int(),
});
type Asked = z.infer<typeof asked>;

/** To the email that an account had. */
const changed = z.object({
  to: z.string(),
  email: z.string(),
  atMs: z.int(),
  timeZone: z.string().nullish(),
  isByOperator: z.boolean().optional(),
});

export const emailChangeMails = {
  "email change": mailAbout(asked, {
    find: findChange,
    examples(atMs) {
      const change = { id: "preview", other: "new@example.com", untilMs: atMs + dayMs };
      const to = { ...change, side: "to", isTaken: false, isConfirmed: false, isByOperator: false } as const;
      return {
        "email-change-old": { ...to, side: "from" as const },
        "email-change-by-operator": { ...to, side: "from" as const, isByOperator: true },
        "email-change-new": to,
        "email-change-taken": { ...to, isTaken: true },
      };
    },
    text(change, zone) {
      if (change.side === "from") return (change.isByOperator ? toLostEmail : toOldEmail)(change, zone);
      return change.isTaken ? toEmailWithAccount() : toNewEmail(change, zone);
    },
  }),
  "email changed": mailTo(changed, {
    isWanted: async () => true,
    examples: (atMs) => ({ "email-changed": { email: "new@example.com", atMs } }),
    text: ({ email, atMs, isByOperator }, zone) => ({
      subject: "The email of your account was changed",
      preview: `It is ${email} now.`,
      body: [
        `${isByOperator ? "We were asked to, no one stopped it for a day, and the new address confirmed it" : "Both addresses confirmed it"}. Sign-in codes and every mail about the account go to the new one; this is the last mail to this address.`,
        {
          facts: {
            "New email": email,
            Changed: formatInstant(atMs, zone),
            Cost: "Nothing. Your plan and credits are as they were",
          },
        },
        `If that was you, you have nothing to do, and are still signed in where you were. If it wasn’t, change the password of this mailbox and write to ${settings().supportEmail ?? "the people who run this service"}: someone could read it.`,
      ],
      footer: ["We always email the old address when an account changes its email."],
    }),
  }),
};

/** While the request waits, with whether its mailbox has given its word already, or the new email has an account. */
async function findChange(db: Db, mail: Asked, nowMs: number) {
  const change = await findEmailChange(db, mail.id);
  if (!change || !isWaiting(change, nowMs)) return undefined;
  const isTaken = mail.side === "to" && (await hasRow(accountBy(db, "email", mail.to).select("id")));
  const timeZone = await findTimeZone(db, "id", change.account_id);
  const isConfirmed = change[`${mail.side}_confirmed_at_ms`] !== null;
  return { ...mail, timeZone, isTaken, isConfirmed, isByOperator: change.asked_by !== null };
}

type EmailChange = Omit<Asked, "to"> & { isTaken: boolean; isConfirmed: boolean; isByOperator: boolean };

function toOldEmail({ id, side, other, untilMs, isConfirmed }: EmailChange, zone?: Zone): MailContent {
  const url = emailChangeUrl({ id, side });
  const stop = { label: "Stop the change", url: `${url}&stop`, is: "danger" } as const;
  return {
    subject: isConfirmed ? "The email of your account will change" : "Confirm the change of your email",
    preview: isConfirmed ? "You can stop it." : "Confirm it if that was you.",
    body: [
      "Someone who is signed in to your account asked us to change its email. Nothing has changed yet: both addresses have to confirm it.",
      { facts: { "New email": other, "Confirm before": formatInstant(untilMs, zone) } },
      isConfirmed
        ? "You have confirmed it with your sign-in code, and have nothing to do."
        : "If that was you, confirm it. If you do nothing, your email stays as it is.",
      ...(isConfirmed ? [] : [{ label: "Confirm the change", url }]),
      "If it wasn’t you, stop it. Then sign out all other browsers under “Access”, and change the password of your mailbox.",
      stop,
    ],
  };
}

/** To the mailbox that its owner cannot read any more, as we were told. Who reads it all the same can stop the change. */
function toLostEmail({ id, side, other, untilMs }: EmailChange, zone?: Zone): MailContent {
  return {
    subject: "The email of your account will change",
    preview: "You can stop it.",
    body: [
      "We were asked to change the email of your account, because its owner cannot read this mailbox any more. Nothing has changed yet.",
      { facts: { "New email": other, "Can confirm from": formatInstant(untilMs - dayMs, zone) } },
      "If you asked us, you have nothing to do. If you did not, stop it.",
      { label: "Stop the change", url: `${emailChangeUrl({ id, side })}&stop`, is: "danger" },
    ],
  };
}

function toNewEmail({ id, side, untilMs, isByOperator }: EmailChange, zone?: Zone): MailContent {
  return {
    subject: "Confirm your new email",
    preview: "For your account at Corner Office.",
    body: [
      `${isByOperator ? "We were asked to move an account at Corner Office to this address" : "Someone who is signed in at Corner Office wants this address for their account"}. If that was you, confirm it: sign-in codes and every mail about the account then come here.`,
      { facts: { "Confirm before": formatInstant(untilMs, zone) } },
      { label: "Confirm this address", url: emailChangeUrl({ id, side }) },
    ],
    footer: ["If it wasn’t you, ignore this email: nothing changes without your word."],
  };
}

/** Only who reads the mailbox of an account learns that there is one. */
function toEmailWithAccount(): MailContent {
  return {
    subject: "This address has an account already",
    preview: "So no other account can get it.",
    body: [
      "Someone who is signed in to another account at Corner Office wants this address for it. It has an account already, so nothing changes.",
      "If that was you, sign in with this address, and delete the account that you no longer need, under “Account”: its plan and credits go with it. Then ask again.",
      linkTo(ownerPages.account, "Sign in", "optional"),
    ],
    footer: ["If it wasn’t you, ignore this email."],
  };
}
