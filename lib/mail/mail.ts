import { createHash } from "node:crypto";
import type { SendMailOptions } from "nodemailer";
import { quoteLocalPart } from "@/lib/config/email-address";
import type { MailAddress } from "@/lib/config/mail-settings";
import { recordOutage } from "@/lib/runtime/dependency-outages";
import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";

/** One mail to one person. */
export type Mail = {
  /**
   * A UUID that stays the same on retries: Resend's idempotency key (remembered for 24 hours), the left part of the
   * Message-ID, and the name of the `.eml` file.
   */
  id: string;
  from: MailAddress;
  to: string;
  replyTo: string | undefined;
  subject: string;
  text: string;
  html: string;
  headers: Readonly<Record<string, string>>;
};

/** A mail without what the outbox knows of it. */
export type RenderedMail = Omit<Mail, "id" | "to">;

/** Derives a mail's id from what it is about, so that every attempt has the same: a UUID (RFC 9562 §5.8). */
export function deriveMailId(about: string): string {
  const hex = createHash("sha256").update(`corner-office:${about}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Converts a mail to nodemailer's options. A retry has the same Message-ID. */
export function toMessage({ id, from, to, replyTo, subject, text, html, headers }: Mail): SendMailOptions {
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  return {
    from,
    to: { name: "", address: quoteLocalPart(to) },
    replyTo,
    messageId: `<${id}@${domain}>`,
    subject,
    text,
    html,
    headers: { ...headers },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Delivers mails: by SMTP, by Resend or to files. */
export type Sender = {
  /** The maximum number of onboarding mails being sent at the same time. */
  maxConcurrent: number;
  /** Returns once the mail is accepted, within `answersWithinMs.mail`. Throws a {@link SendError}. */
  send: (mail: Mail) => Promise<void>;
  /** Describes in a few words that the sender is reachable, without sending a mail. Throws if it is not. */
  check: () => Promise<string>;
};

/** A mail was not accepted, or its delivery is unknown. `message` contains no address and no text from outside. */
export class SendError extends Error {
  override readonly name = "SendError";
  /** Whether a retry may succeed; otherwise the mail is refused permanently. */
  readonly mayRetry: boolean;
  /** The delivery is unknown: the mail may still arrive. */
  readonly mayArrive: boolean;
  /** We send too fast: how long to send nothing at all. */
  readonly pauseMs: number;
  /** It is about the address that the mail is to, which a stranger may have typed. */
  readonly isOfRecipient: boolean;

  constructor(
    message: string,
    known: { mayRetry: boolean; mayArrive?: boolean; pauseMs?: number; isOfRecipient?: boolean },
  ) {
    super(message);
    this.mayRetry = known.mayRetry;
    this.mayArrive = known.mayArrive ?? false;
    this.pauseMs = known.pauseMs ?? 0;
    this.isOfRecipient = known.isOfRecipient ?? false;
  }
}

/** Notes whether the provider takes mails: an alert compares when it last did, and did not, on all instances. */
function note({ isAway }: { isAway: boolean }): void {
  recordOutage("mail", isAway);
  metrics()?.mailTried.set({ outcome: isAway ? "not taken" : "taken" }, Date.now() / 1000);
}

/** Renders and sends a mail. Returns the error, if any; an error of our own is retried, as a new version may fix it. */
export async function trySending(mailSender: Sender, render: () => Mail): Promise<SendError | undefined> {
  try {
    await mailSender.send(render());
    metrics()?.mails.inc({ outcome: "taken" });
    note({ isAway: false });
    return undefined;
  } catch (failure) {
    metrics()?.mails.inc({ outcome: "not taken" });
    // Compared by name, because another bundle of this process may have created the sender, with its own class.
    if ((failure as Error).name === "SendError") {
      const { mayRetry, pauseMs, isOfRecipient } = failure as SendError;
      // A permanent refusal of one mail, one of its recipient for now, or a request to slow down, is not an outage.
      note({ isAway: mayRetry && pauseMs === 0 && !isOfRecipient });
      return failure as SendError;
    }
    log().error({ err: failure }, "a mail could not be made");
    return new SendError("internal error", { mayRetry: true });
  }
}
