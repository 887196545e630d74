import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { pages } from "@/lib/http/register/pages";
import { mailAbout, mailTo } from "@/lib/mail/kind";
import { inCredits } from "@/lib/mail/kinds/credits";
import { formatInstant } from "@/lib/mail/mail-content";

const timeZone = z.string().nullish();
const deletion = z.object({ to: z.string(), token: z.string(), deletesAtMs: z.int(), timeZone });

export const deletionMails = {
  /** After an owner has asked to delete their account, with the link that takes it back. */
  "account deletion": mailAbout(deletion, {
    async find(db, mail) {
      const account = await accountBy(db, "email", mail.to)
        .select(["plan", "credit_thousandths"])
        .where("deletes_at_ms", "=", mail.deletesAtMs)
        .executeTakeFirst();
      return account && { ...mail, ...account };
    },
    examples(atMs) {
      const account = { plan: "licensed", credit_thousandths: 930_500 };
      return { "account-deletion": { deletesAtMs: atMs + dayMs, token: "preview", ...account } };
    },
    text({ deletesAtMs, token, plan, credit_thousandths }, zone) {
      const end = formatInstant(deletesAtMs, zone);
      const losses = [
        plan === "licensed" && "your plan, without a refund",
        credit_thousandths > 0 && `${inCredits(credit_thousandths)} credits`,
      ].filter((loss) => loss !== false);
      return {
        subject: "Your account will be deleted",
        preview: `On ${end}. Until then you can keep it.`,
        body: [
          "You asked for that. Until then nothing changes. If you still want it, you have nothing to do.",
          {
            facts: {
              "Deleted on": end,
              "You lose": losses.join(", and ") || undefined,
              Cost: "Nothing is charged",
            },
          },
          {
            label: "Keep my account",
            url: `${settings().appUrl}${pages.keepAccount.path}?token=${token}`,
            is: "optional",
          },
          "If it wasn’t you who asked, keep it. Then sign out all other browsers under “Access”, and change the password of your mailbox: anyone who can read your email can sign in with our codes.",
        ],
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
        "You have nothing to do: your apps stop at their next check.",
        {
          facts: {
            Deleted: `${formatInstant(atMs, zone)}, as you asked`,
            Gone: "Your email, sign-ins, apps, passkeys and credits",
            Stays: `Sums and dates that name no one, and a fingerprint of your email, which can’t be turned back into it${settings().billing ? "; Stripe keeps its invoices, as the law requires" : ""}`,
            Cost: "Nothing. A plan that ran is not charged again",
          },
        },
        "This is our last email. Thank you for having tried Corner Office; you are welcome back.",
      ],
      footer: [
        "You received this email because this address had an account here until now.",
        { label: "Join the waitlist again", url: `${settings().appUrl}${pages.waitlist.path}` },
      ],
    }),
  }),
};
