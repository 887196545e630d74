import { randomUUID } from "node:crypto";
import { setAsHtml, setAsText } from "@/lib/emails/letter";
import type { Mail } from "@/lib/emails/mail";
import { invitationDays } from "@/lib/invitations";

/** The mail that brings an invitation. */
export function invitationMail(to: string, url: string): Mail {
  const letter = {
    subject: "Your invitation to Corner Office",
    preview: "There is a place for you.",
    body: [
      "There is a place for you in Corner Office, where a person runs a company of AI assistants: they work in your own apps, and nothing is sent, published, deployed or charged before you approve it there.",
      { label: "Open your account", url },
      `The link works once, for ${invitationDays} days, and for this email only.`,
    ],
    footer: ["You get this one mail because somebody invited this email. If that was a mistake, do nothing."],
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
