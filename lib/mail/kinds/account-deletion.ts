import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import { pages } from "@/lib/http/register/pages";
import { mailTo } from "@/lib/mail/kind";
import { formatInstant } from "@/lib/mail/mail-content";

const timeZone = z.string().nullish();
const deletion = z.object({ to: z.string(), token: z.string(), deletesAtMs: z.int(), timeZone });

export const deletionMails = {
  /** After an owner has asked to delete their account, with the link that takes it back. */
  "account deletion": mailTo(deletion, {
    isWanted: (db, { to, deletesAtMs }) =>
      hasRow(accountBy(db, "email", to).select("id").where("deletes_at_ms", "=", deletesAtMs)),
    examples: (atMs) => ({ "account-deletion": { deletesAtMs: atMs + dayMs, token: "preview" } }),
    text({ deletesAtMs, token }, zone) {
      const end = formatInstant(deletesAtMs, zone);
      return {
        subject: "Your account will be deleted",
        preview: `On ${end}. Until then you can keep it.`,
        body: [
          `You asked us to delete your account. That happens on ${end}. Until then nothing changes.`,
          "If you still want that, you have nothing to do. To keep the account, or if it wasn’t you who asked:",
          { label: "Keep my account", url: `${settings().appUrl}${pages.keepAccount.path}?token=${token}` },
          "If it wasn’t you, also sign out all other browsers on your access page, and change the password of your mailbox: anyone who can read your email can sign in with the codes that we send there.",
        ],
        cost: "nothing is charged. A plan that runs ends without a refund, and credits that are left are lost.",
      };
    },
  }),
  /** To the email of an account that is gone. */
  farewell: mailTo(z.object({ to: z.string(), atMs: z.int(), timeZone }), {
    isWanted: async () => true,
    examples: (atMs) => ({ farewell: { atMs } }),
    text: ({ atMs }, zone) => ({
      subject: "Your account is deleted",
      preview: "Nothing is left that names you.",
      body: [
        `Your account was deleted on ${formatInstant(atMs, zone)}, as you asked. You have nothing to do: your apps stop at their next check.`,
        {
          points: [
            "What is gone: your email, sign-ins, apps, passkeys and credits.",
            `What stays: sums and dates that name no one, and a fingerprint of your email, which can’t be turned back into it.${settings().billing ? " Stripe keeps its invoices, as the law requires." : ""}`,
          ],
        },
        "This is our last email. Thank you for having tried Corner Office; you are welcome back.",
      ],
      cost: "nothing. A plan that ran is not charged again.",
      footer: [
        "You received this email because this address had an account here until now.",
        { label: "Join the waitlist again", url: `${settings().appUrl}${pages.waitlist.path}` },
      ],
    }),
  }),
};
