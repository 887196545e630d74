import { randomUUID } from "node:crypto";
import type { Mail } from "@/lib/emails/mail";
import { codeMinutes } from "@/lib/sign-in/code";

/** The mail that brings a sign-in code. */
export function codeMail(to: string, code: string): Mail {
  const help = `It works once, in the browser that asked for it, for ${codeMinutes} minutes. If you did not ask for it, do nothing: without the code nobody signs in.`;
  return {
    id: randomUUID(),
    to,
    subject: `${code} is your sign-in code`,
    text: `Your sign-in code for Corner Office is ${code}.\n\n${help}\n`,
    html: `<p>Your sign-in code for Corner Office is</p><p style="font-size:2em"><strong>${code}</strong></p><p>${help}</p>`,
    headers: { "Auto-Submitted": "auto-generated" },
  };
}
