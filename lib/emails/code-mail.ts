import { randomUUID } from "node:crypto";
import { setAsHtml, setAsText } from "@/lib/emails/letter";
import type { Mail } from "@/lib/emails/mail";
import { codeMinutes } from "@/lib/sign-in/code";

/** The mail that brings a sign-in code. */
export function codeMail(to: string, code: string): Mail {
  const letter = {
    subject: `${code} is your sign-in code`,
    preview: `It works once, for ${codeMinutes} minutes.`,
    body: [
      "Type this code where you asked for it:",
      { code },
      `It works once, in the browser that asked for it, for ${codeMinutes} minutes. Nobody of ours will ever ask you for it.`,
    ],
    footer: ["If you did not ask for it, do nothing: without the code nobody signs in."],
  };
  return {
    id: randomUUID(),
    to,
    subject: letter.subject,
    text: setAsText(letter),
    html: setAsHtml(letter),
    headers: { "Auto-Submitted": "auto-generated" },
  };
}
