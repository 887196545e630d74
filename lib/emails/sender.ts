import { sendAsFiles } from "@/lib/emails/file-sender";
import type { Sender } from "@/lib/emails/mail";
import { sendByResend } from "@/lib/emails/resend-sender";
import { sendBySmtp } from "@/lib/emails/smtp-sender";
import { oncePerProcess } from "@/lib/once-per-process";
import { settings } from "@/lib/settings";

/** The sender of this process, as the settings choose it. */
export function sender(): Sender {
  return oncePerProcess("sender", () => {
    const { mail, supportEmail, dataDir } = settings();
    switch (mail.kind) {
      case "resend":
        return sendByResend(mail, supportEmail);
      case "smtp":
        return sendBySmtp(mail, supportEmail);
      case "files":
        return sendAsFiles(mail, supportEmail, dataDir);
    }
  });
}
