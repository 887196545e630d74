import { randomUUID } from "node:crypto";
import type { Mail } from "@/lib/emails/mail";

/** The mail that brings an invitation. */
export function invitationMail(to: string, url: string): Mail {
  const help = "It works once, for 14 days, and for this email only.";
  return {
    id: randomUUID(),
    to,
    subject: "Your invitation to Corner Office",
    text: `There is a place for you in Corner Office. Open your account here:\n\n${url}\n\n${help}\n`,
    html: `<p>There is a place for you in Corner Office.</p><p><a href="${url}">Open your account</a></p><p>${help}</p>`,
    headers: { "Auto-Submitted": "auto-generated" },
  };
}
