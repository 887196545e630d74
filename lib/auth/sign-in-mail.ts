import { invitationDays } from "@/lib/auth/invitation-token";
import { codeMinutes, groupLongCode, longCodeHours } from "@/lib/auth/sign-in-code";
import type { Mail } from "@/lib/mail/mail";
import { type MailContent, renderHtml, renderText } from "@/lib/mail/mail-content";

type CodeMail = { to: string; code: string; isLong: boolean };

/** The mail with a sign-in code. */
export function codeMail({ to, code, isLong }: CodeMail): Omit<Mail, "id"> {
  return isLong ? longCodeMail(to, groupLongCode(code)) : shortCodeMail(to, code);
}

function shortCodeMail(to: string, code: string): Omit<Mail, "id"> {
  return toMail(to, {
    subject: `${code} is your sign-in code`,
    heading: "Your sign-in code",
    preview: `It works once, for ${codeMinutes} minutes.`,
    body: [
      "Type this code where you asked for it:",
      { code },
      `It works once, in the browser that asked for it, for ${codeMinutes} minutes. Nobody of ours will ever ask you for it.`,
    ],
    footer: ["If you did not ask for it, do nothing: without the code nobody signs in."],
  });
}

function longCodeMail(to: string, code: string): Omit<Mail, "id"> {
  return toMail(to, {
    subject: `${code} is your long sign-in code`,
    heading: "Your long sign-in code",
    preview: `It works once, for ${longCodeHours} hours.`,
    body: [
      "Many codes were asked for this email today, so here is one that nobody can guess:",
      { code },
      `Type it where you sign in, in any browser. It works once, for ${longCodeHours} hours, and no other is sent before it is used or over: keep this mail until then. Nobody of ours will ever ask you for it.`,
    ],
    footer: [
      "If it was not you who asked, do nothing: without the code nobody signs in, and asking does not keep you out.",
    ],
  });
}

/** The mail with an invitation. */
export function invitationMail(to: string, url: string): Omit<Mail, "id"> {
  return toMail(to, {
    subject: "Your invitation to Corner Office",
    preview: "There is a place for you.",
    body: [
      "There is a place for you in Corner Office, where a person runs a company of AI assistants: they work in your own apps, and nothing is sent, published, deployed or charged before you approve it there.",
      { label: "Open your account", url },
      `The link works once, for ${invitationDays} days, and for this email only.`,
    ],
    footer: ["You get this one mail because somebody invited this email. If that was a mistake, do nothing."],
  });
}

/** A transactional mail: it has no unsubscribe link, and automatic replies are suppressed (RFC 3834 §5). */
function toMail(to: string, content: MailContent): Omit<Mail, "id"> {
  return {
    to,
    subject: content.subject,
    text: renderText(content),
    html: renderHtml(content),
    headers: { "Auto-Submitted": "auto-generated" },
  };
}
