import { createTransport, type NodemailerError } from "nodemailer";
import type { MailSettings } from "@/lib/config/mail-settings";
import { signStream } from "@/lib/mail/dkim";
import { SendError, type Sender, sendWithinMs } from "@/lib/mail/mail";
import { toMessage } from "@/lib/mail/message";
import { withTimeout } from "@/lib/runtime/timeout";

type SmtpSettings = Extract<MailSettings, { kind: "smtp" }>;

const atOnce = 48;
const atOnceForSignIn = 5;
const idleMs = 5000; // how long a connection is kept for the next mail

/**
 * Sends by SMTP, over as many connections as there are mails under way. SMTP knows no idempotency: when the connection
 * breaks after the whole mail was sent and before the server's word came back, the mail is handed over again, and the
 * only thing by which its recipient's mailbox can tell that it is the same is its Message-ID.
 */
export function createSmtpSender(
  { server, dkim, from }: SmtpSettings,
  replyTo: string | undefined,
  withinMs = sendWithinMs,
): Sender {
  const transport = createTransport({
    ...server,
    pool: true,
    // Nobody waits for a connection: a mail that is broken off has been on the wire, or never will be.
    maxConnections: atOnce + atOnceForSignIn,
    idleTimeout: idleMs,
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
    atOnce,
    async send(mail) {
      const signal = AbortSignal.timeout(withinMs);
      try {
        await transport.sendMail({ ...toMessage(mail, from, replyTo), signal });
      } catch (failure) {
        throw toSendError(failure as NodemailerError);
      }
    },
    async check() {
      await withTimeout(withinMs, transport.verify());
      return `the SMTP server answers${dkim ? "" : "; it has to sign with DKIM, as we do not"}`;
    },
  };
}

const pauseMs = 1000; // 1 second

/**
 * A recipient or a mail that is refused for good (RFC 5321 §4.2.1) is given up; anything else is tried again. A server
 * that closes (421) or has too many connections of ours (432, or a 4xx before any mail) has refused no mail.
 */
function toSendError({ code = "", command = "", responseCode, permanent }: NodemailerError): SendError {
  const isOfMail = command === "MAIL FROM" || command === "RCPT TO" || command === "DATA";
  const isRefused = permanent === true && isOfMail && command !== "MAIL FROM";
  const isTemporary = responseCode !== undefined && responseCode >= 400 && responseCode < 500;
  const isBusy = responseCode === 421 || responseCode === 432 || (isTemporary && !isOfMail);
  const answer = responseCode ?? (code === "EABORT" ? "no answer" : code);
  return new SendError(`smtp: ${answer} ${command}`.trim(), {
    mayRetry: !isRefused,
    mayArrive: !responseCode,
    pauseMs: isBusy ? pauseMs : 0,
  });
}
