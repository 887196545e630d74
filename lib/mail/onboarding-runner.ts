import { setTimeout as sleep } from "node:timers/promises";
import { type Db, store } from "@/lib/db/store";
import { type Sender, trySending } from "@/lib/mail/mail";
import {
  type ClaimedEmail,
  claimDueMails,
  type Finished,
  finish,
  type Outcome,
} from "@/lib/mail/onboarding-claims";
import { renderOnboarding } from "@/lib/mail/onboarding-mails";
import { processQueue } from "@/lib/mail/queue";
import { sender } from "@/lib/mail/sender";
import { type BackgroundLoop, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

/** 200 mails a second at most: enough for a series, and little enough to leave the process to the API. */
const everyMs = 5;
const batch = 20; // so that the embedded store is written to ten times a second, not 200
const leaseSlackMs = 5000; // what a lease has over the sender's time: for the store, and for clocks that differ
const writeEveryMs = 100;
const tryAgainAfterMs = 250;
const lookEveryMs = 5000; // 5 seconds

/** When a mail is tried again: 1, 3, 9, 27, 81 minutes after each failure, then every four hours. */
export function retryAfterMs(attempts: number): number {
  return Math.min(60_000 * 3 ** (attempts - 1), 4 * 60 * 60 * 1000);
}

/** How many mails were sent, will be tried again, and were given up. */
export type SendCounts = { sent: number; toRetry: number; failed: number };

type RunnerOptions = {
  /** No mail is begun after it. */
  signal?: AbortSignal;
  /** How long after its n-th failure a mail is tried again. */
  backoff?: (attempts: number) => number;
};

/**
 * Sends every mail that is due, and returns when none is. Any number of runners may do this at once, in any number of
 * processes: a mail is sent by the one that holds its lease. A runner that dies leaves leases behind, which are over
 * 15 seconds after it took them; another runner then sends those mails again. Resend knows them by their id and
 * sends them once; a file replaces itself; SMTP delivers a mail twice whose runner died between the server's
 * word and our writing it down, under the same Message-ID.
 */
export async function sendDueMails(
  db: Db,
  through: Sender,
  { signal, backoff = retryAfterMs }: RunnerOptions = {},
): Promise<SendCounts> {
  const tally: SendCounts = { sent: 0, toRetry: 0, failed: 0 };
  const leaseMs = through.withinMs + leaseSlackMs;
  const writeDown = outcomeBook(db);
  let leaseOverAtMs = 0; // of the last claim, on the clock that nobody can set
  await processQueue({
    slots: through.atOnce,
    batch,
    everyMs,
    claim(most) {
      leaseOverAtMs = performance.now() + leaseMs;
      return claimDueMails(db, { most, leaseMs, nowMs: Date.now() });
    },
    async processItem(email) {
      const overAtMs = leaseOverAtMs;
      // The store was so slow that the lease might be over before the sender is.
      const isLate = overAtMs - performance.now() < through.withinMs + leaseSlackMs / 2;
      const { outcome, pauseMs } = isLate ? tooLate : await send(through, email, backoff);
      await writeDown({ email, outcome }, overAtMs);
      tally[outcome.state === "scheduled" ? "toRetry" : outcome.state]++;
      return pauseMs;
    },
    signal,
  });
  return tally;
}

type Sent = { outcome: Outcome; pauseMs: number };

const tooLate: Sent = {
  outcome: {
    state: "scheduled",
    failure: "the store was too slow",
    mayArrive: false,
    isNoAttempt: true,
    nextAttemptAtMs: 0,
  },
  pauseMs: 0,
};

async function send(
  through: Sender,
  { id, accountId, kind, to, attempts }: ClaimedEmail,
  backoff: (attempts: number) => number,
): Promise<Sent> {
  const unsent = await trySending(through, () => ({ id, to, ...renderOnboarding(kind, accountId) }));
  if (!unsent) return { outcome: { state: "sent" }, pauseMs: 0 };
  const { message: failure, mayRetry, mayArrive, pauseMs } = unsent;
  log().warn({ id, kind, attempts, failure }, "a mail was not sent");
  if (!mayRetry) return { outcome: { state: "failed", failure, mayArrive }, pauseMs };
  const nextAttemptAtMs = Date.now() + (pauseMs || backoff(attempts));
  // Who was told to come back later has not tried.
  const isNoAttempt = pauseMs > 0;
  return { outcome: { state: "scheduled", failure, mayArrive, isNoAttempt, nextAttemptAtMs }, pauseMs };
}

/**
 * Writes down outcomes together, because the embedded store waits for the disk each time; tries until their leases are
 * over. What stays unwritten is sent again.
 */
function outcomeBook(db: Db): (finished: Finished, overAtMs: number) => Promise<void> {
  type Entry = { finished: Finished; overAtMs: number; written: () => void };
  let waiting: Entry[] = [];
  let isWriting = false;
  async function write() {
    isWriting = true;
    while (waiting.length > 0) {
      await sleep(writeEveryMs);
      const entries = waiting;
      waiting = [];
      try {
        await finish(
          db,
          entries.map(({ finished }) => finished),
        );
        for (const { written } of entries) written();
      } catch (failure) {
        log().warn({ err: failure, mails: entries.length }, "what became of mails could not be written down");
        await sleep(tryAgainAfterMs);
        for (const entry of entries) {
          if (performance.now() > entry.overAtMs) entry.written();
          else waiting.push(entry);
        }
      }
    }
    isWriting = false;
  }
  return (finished, overAtMs) =>
    new Promise((written) => {
      waiting.push({ finished, overAtMs, written });
      if (!isWriting) void write();
    });
}

/** Starts this process's runner: it looks for due mail every five seconds. `stop` waits for the mail in flight. */
export function startRunner(): BackgroundLoop {
  return startBackgroundLoop(async (signal) => sendDueMails(await store(), sender(), { signal }), {
    pauseMs: lookEveryMs,
    failed: "the outbox could not be read; the runner looks again shortly",
  });
}
