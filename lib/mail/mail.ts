import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";
import { recordOutage } from "@/lib/runtime/outages";

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
  /** How long it may take over one mail. */
  withinMs: number;
  /** How many mails of the series it is given at the same time, at most. */
  atOnce: number;
  /**
   * Hands a mail over, and returns once it is accepted. It settles within `withinMs`: what has not been
   * accepted by then is broken off. Throws a {@link SendError}, after which the mail may still have been accepted.
   */
  send: (mail: Mail) => Promise<void>;
  /** Says in a few words that it answers, without sending anything. Throws when it does not. */
  check: () => Promise<string>;
};

/** The `withinMs` of every sender. */
export const sendWithinMs = 10_000; // 10 seconds

type Prospects = {
  /** Whether the same mail may be accepted later; otherwise it is refused for good. */
  mayRetry: boolean;
  /** Nobody knows whether it was accepted: it may still be delivered. */
  mayArrive?: boolean;
  /** We send too fast: how long to send nothing at all. */
  pauseMs?: number;
};

/** A mail was not accepted, or nobody knows. `message` has a few words of ours: no address, no text of others. */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly mayRetry: boolean;
  readonly mayArrive: boolean;
  readonly pauseMs: number;

  constructor(message: string, { mayRetry, mayArrive = false, pauseMs = 0 }: Prospects) {
    super(message);
    this.mayRetry = mayRetry;
    this.mayArrive = mayArrive;
    this.pauseMs = pauseMs;
  }
}

/**
 * Makes a mail and hands it over; answers what came in between. What is not a sender's word is a fault of ours, which
 * the next version may not have.
 */
export async function trySending(through: Sender, make: () => Mail): Promise<SendError | undefined> {
  try {
    await through.send(make());
    metrics()?.mails.inc({ outcome: "taken" });
    recordOutage("mail", false);
    return undefined;
  } catch (failure) {
    metrics()?.mails.inc({ outcome: "not taken" });
    // By its name: a process has one sender, which another bundle may have made, and with it another class.
    if ((failure as Error).name === "SendError") return noteUnsent(failure as SendError);
    log().error({ err: failure }, "a mail could not be made");
    return new SendError("internal error", { mayRetry: true });
  }
}

/** One mail that is refused for good says nothing of the next, and whoever asks for a pause is there. */
function noteUnsent(unsent: SendError): SendError {
  recordOutage("mail", unsent.mayRetry && unsent.pauseMs === 0);
  return unsent;
}
