import { createTransport, type NodemailerError } from "nodemailer";
import { signStream } from "@/lib/mail/dkim";
import { SendError, type Sender, sendWithinMs } from "@/lib/mail/mail";
import { toMessage } from "@/lib/mail/message";
import { within } from "@/lib/process/deadline";
import type { MailSettings } from "@/lib/settings/mail-settings";

type SmtpSettings = Extract<MailSettings, { kind: "smtp" }>;

/**
 * Sends by SMTP, a connection for each mail. SMTP knows no idempotency: when the connection breaks after the
 * whole mail was sent and before the server's word came back, the mail is handed over again, and the only thing
 * by which its recipient's mailbox can tell that it is the same is its Message-ID.
 */
export function sendBySmtp(
  { server, dkim, from }: SmtpSettings,
  replyTo: string | undefined,
  withinMs = sendWithinMs,
): Sender {
  const transport = createTransport({
    ...server,
    connectionTimeout: withinMs,
    // What is broken off must not be delivered from a buffer afterwards.
    socketCloseTimeout: 0,
  });
  if (dkim) {
    transport.use("stream", ({ message }, done) => {
      message?.processFunc((composed) => signStream(composed, dkim));
      done();
    });
  }
  return {
    withinMs,
    async send(mail) {
      const signal = AbortSignal.timeout(withinMs);
      try {
        await transport.sendMail({ ...toMessage(mail, from, replyTo), signal });
      } catch (failure) {
        throw toSendError(failure as NodemailerError);
      }
    },
    async check() {
      await within(withinMs, transport.verify());
      return `the SMTP server answers${dkim ? "" : "; it has to sign with DKIM, as we do not"}`;
    },
  };
}

/** A recipient or a mail that is refused for good (RFC 5321 §4.2.1) is given up; anything else is tried again. */
function toSendError({ code = "", command = "", responseCode, permanent }: NodemailerError): SendError {
  const isRefused = permanent === true && (command === "RCPT TO" || command === "DATA");
  const answer = responseCode ?? (code === "EABORT" ? "no answer" : code);
  return new SendError(`smtp: ${answer} ${command}`.trim(), {
    mayRetry: !isRefused,
    mayArrive: !responseCode,
  });
}
