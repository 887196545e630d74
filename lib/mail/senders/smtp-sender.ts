import type { NodemailerError } from "nodemailer";
import { answersWithinMs } from "@/lib/config/limits";
import type { MailSettings } from "@/lib/config/mail-settings";
import { SendError, type Sender, toMessage } from "@/lib/mail/mail";
import { signStream } from "@/lib/mail/senders/dkim";
import { loadLibrary } from "@/lib/runtime/load-library";
import { withTimeout } from "@/lib/runtime/timeout";

type SmtpSettings = Extract<MailSettings, { kind: "smtp" }>;

const maxConcurrent = 48;
const maxConcurrentOthers = 10; // five mails of each of the other two outboxes
const idleTimeoutMs = 5000; // how long a connection is kept for the next mail

/**
 * Sends by SMTP, with one connection for each mail being sent. SMTP is not idempotent: if the connection breaks before
 * the server confirms, the mail is sent again, and only its Message-ID shows the recipient that it is the same.
 */
export function createSmtpSender(smtp: SmtpSettings, timeoutMs = answersWithinMs.mail): Sender {
  let transport: ReturnType<typeof openTransport> | undefined;
  // One that could not be opened, because a file of its library could not, is opened anew for the next mail.
  const open = () => {
    transport ??= openTransport(smtp, timeoutMs);
    transport.catch(() => {
      transport = undefined;
    });
    return transport;
  };
  return {
    maxConcurrent,
    async send(mail) {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        await (await open()).sendMail({ ...toMessage(mail), signal });
      } catch (failure) {
        throw toSendError(failure as NodemailerError);
      }
    },
    async check() {
      const { name } = smtp.server;
      await withTimeout(timeoutMs, (await open()).verify()).catch(({ response, command, message }) => {
        const said = response ? `it said to ${command}: ${response.replace(/\s+/g, " ")}` : message;
        throw new Error(`to our greeting as ${name}: ${said}`);
      });
      return `the SMTP server takes our greeting as ${name}${smtp.dkim ? "" : "; it has to sign with DKIM, because no DKIM key is set here"}`;
    },
  };
}

async function openTransport({ server, dkim }: SmtpSettings, timeoutMs: number) {
  const { createTransport } = await loadLibrary(() => import("nodemailer"));
  const transport = createTransport({
    ...server,
    pool: true,
    // Mails never queue for a connection: after an abort, a queued one could still be sent later.
    maxConnections: maxConcurrent + maxConcurrentOthers,
    idleTimeout: idleTimeoutMs,
    connectionTimeout: timeoutMs,
    maxRequeues: 1, // the outbox repeats, and counts
    // An aborted mail must not be sent from a buffer afterwards.
    socketCloseTimeout: 0,
  });
  if (dkim) {
    transport.use("stream", ({ message }, done) => {
      message?.processFunc((composed) => signStream(composed, dkim));
      done();
    });
  }
  return transport;
}

const pauseMs = 1000; // 1 second

/** A refusal of the mail that is about its recipient's address or mailbox, or its size or form (RFC 3463 §3). */
const aboutThisMail = /\b5\.(1\.([1-6]|10)|2\.[1-4]|3\.4|6\.\d+)\b/;
/**
 * The same for now: Postfix refuses a domain that DNS does not know so, until it may know it (`unknown_address_reject_code`).
 */
const aboutThisRecipient = /\b4\.(1\.([1-6]|10)|2\.\d)\b/;
/**
 * A refusal of the recipient that is about us: policy (RFC 3463 §3.8), no relaying for us, our name or address, of which
 * Postfix and Exim say only here what they think, or how much we have sent, for which providers have no code in common.
 */
const aboutUs =
  /\b5\.(7\.\d|1\.[78]\b)|\brelay|\bauthenticat|\bhelo command\b|\bsender\b|\btry again\b|\b(send|sending|outgoing|hour|hourly|daily)\b.{0,20}\b(limit|quota)|\bper (hour|day)\b/i;

/**
 * A permanent refusal of the recipient or of this mail (RFC 5321 §4.2.1) is final. Anything else is retried, because time or the
 * operator can end it: relays refuse a whole mail also for a sender that is not verified, or a quota of the day. A server that
 * closes (421), has too many of our connections (432, or a 4xx before any mail) or takes fewer mails a second is busy: all mails
 * pause, unless it is our name that it does not take.
 */
function toSendError(failure: NodemailerError): SendError {
  const { code = "", command = "", response = "", responseCode, permanent } = failure;
  const isAboutMail = command === "MAIL FROM" || command === "RCPT TO" || command === "DATA";
  const isFinal =
    (command === "RCPT TO" && !aboutUs.test(response)) ||
    (command === "DATA" && aboutThisMail.test(response));
  const isRefused = permanent === true && isFinal;
  const isTemporary = responseCode !== undefined && responseCode >= 400 && responseCode < 500;
  const isTooFast = /\b(sending rate|per second)\b/i.test(response);
  const isBusy =
    (responseCode === 421 || responseCode === 432 || isTooFast || (isTemporary && !isAboutMail)) &&
    !/^(EH|HE)LO$/.test(command);
  const status = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3}) /.exec(response)?.[1]; // RFC 2034 §4
  const reply = responseCode
    ? [responseCode, ...(status ? [status] : [])].join(" ")
    : code === "EABORT"
      ? "no answer"
      : code;
  return new SendError(`smtp: ${reply} ${command}`.trim(), {
    mayRetry: !isRefused,
    mayArrive: !responseCode,
    pauseMs: isBusy ? pauseMs : 0,
    isOfRecipient: command === "RCPT TO" && aboutThisRecipient.test(response) && !aboutUs.test(response),
  });
}
