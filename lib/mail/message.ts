import type { SendMailOptions } from "nodemailer";
import type { MailAddress } from "@/lib/config/mail-settings";
import type { Mail } from "@/lib/mail/mail";

/** Converts a mail to nodemailer's options. A retry has the same Message-ID. */
export function toMessage(
  { id, to, subject, text, html, headers }: Mail,
  from: MailAddress,
  replyTo: string | undefined,
): SendMailOptions {
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  return {
    from,
    to: { name: "", address: to },
    ...(replyTo ? { replyTo } : {}),
    messageId: `<${id}@${domain}>`,
    subject,
    text,
    html,
    headers: { ...headers },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
