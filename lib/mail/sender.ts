import { sendAsFiles } from "@/lib/mail/file-sender";
import type { Sender } from "@/lib/mail/mail";
import { sendByResend } from "@/lib/mail/resend-sender";
import { sendBySmtp } from "@/lib/mail/smtp-sender";
import { oncePerProcess } from "@/lib/once-per-process";
import { settings } from "@/lib/settings/settings";

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
