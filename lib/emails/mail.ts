/** One mail to one person. */
export type Mail = {
  /**
   * What makes it one mail, however often it is handed over: a UUID. It is Resend's idempotency key (which
   * Resend remembers for 24 hours), the left part of the Message-ID, and the name of the `.eml` file.
   */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Beside From, To, Subject, Date and Message-ID. ASCII. */
  headers: Readonly<Record<string, string>>;
};

/** Whoever takes our mail to its recipient, or part of the way. */
export type Sender = {
  /**
   * Hands a mail over, and returns once it is accepted. It settles within {@link sendWithinMs}: what has not been
   * accepted by then is broken off. Throws a {@link SendError}, after which the mail may still have been accepted.
   */
  send: (mail: Mail) => Promise<void>;
  /** Says in a few words that it answers, without sending anything. Throws when it does not. */
  check: () => Promise<string>;
};

/** How long a sender may take over one mail. */
export const sendWithinMs = 10_000; // 10 seconds

/** A mail was not accepted, or nobody knows. `message` has a few words of ours: no address, no text of others. */
export class SendError extends Error {
  constructor(
    message: string,
    /** Whether the same mail may be accepted later; otherwise it is refused for good. */
    readonly mayRetry: boolean,
    /** How long the sender asks everyone to wait before anything else is sent, where it says. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
