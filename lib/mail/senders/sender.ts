import { settings } from "@/lib/config/settings";
import type { Sender } from "@/lib/mail/mail";
import { createFileSender } from "@/lib/mail/senders/file-sender";
import { createResendSender } from "@/lib/mail/senders/resend-sender";
import { createSmtpSender } from "@/lib/mail/senders/smtp-sender";
import { perProcess } from "@/lib/per-process";

/** This process's sender, chosen by the settings. */
export const sender = perProcess("sender", (): Sender => {
  const { mail, dataDir, databaseUrl } = settings();
  switch (mail.kind) {
    case "resend":
      return createResendSender(mail);
    case "smtp":
      return createSmtpSender(mail);
    case "files":
      return createFileSender(dataDir, databaseUrl === undefined);
  }
});
