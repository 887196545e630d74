import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import { formatInstant, type MailContent } from "@/lib/mail/mail-content";

type Deletion = { deletesAtMs: number; token: string };

/** The mail after an owner has asked to delete their account, with the link that takes it back. */
export function accountDeletionMail({ deletesAtMs, token }: Deletion): MailContent {
  const end = formatInstant(deletesAtMs);
  return {
    subject: "Your account will be deleted",
    preview: `On ${end}. Until then you can keep it.`,
    body: [
      `You asked us to delete your account. That happens on ${end}. A running licence ends then, and is not refunded by us.`,
      "Until then nothing changes. If you want to keep the account, or if it wasn’t you who asked:",
      { label: "Keep my account", url: `${settings().appUrl}${pages.keepAccount.path}?token=${token}` },
      "If it wasn’t you, also sign out all other browsers on your access page, and change the password of your mailbox: anyone who can read your email can sign in with the codes that we send there.",
    ],
  };
}

/** The last mail to an owner, once the account is gone. */
export function farewellMail({ atMs }: { atMs: number }): MailContent {
  return {
    subject: "Your account is deleted",
    preview: "Nothing is left that names you.",
    body: [
      `Your account was deleted on ${formatInstant(atMs)}, as you asked: your email, sessions, apps, passkeys and credits. Your apps stop at their next check, and a licence that ran is not billed again.`,
      "This is our last mail. The history of credits stays under an id that names no one, and a hash of your email.",
      "If you come back, join the waitlist as anyone does. Thank you for having tried it.",
      { label: "Join the waitlist", url: `${settings().appUrl}${pages.waitlist.path}` },
    ],
    footer: ["You received this email because this address had an account here until now."],
  };
}
