import { setTimeout as sleep } from "node:timers/promises";
import { type Db, store } from "@/lib/db/store";
import { findLinkKey, requireKeys } from "@/lib/mail/link-keys";
import { type Sender, trySending } from "@/lib/mail/mail";
import {
  type ClaimedEmail,
  claimDueMails,
  type FinishedMail,
  type Outcome,
  recordOutcomes,
} from "@/lib/mail/onboarding-claims";
import { leaseSlackMs, processQueue } from "@/lib/mail/queue";
import { sender } from "@/lib/mail/sender";
import { reclaimExpiredLeases, recordThroughOutage } from "@/lib/mail/store-outage";
import { renderOnboarding } from "@/lib/mail/texts/onboarding";
import { type BackgroundLoop, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

const minIntervalMs = 5; // at most 200 mails a second, which leaves most of the process to the API
const batchSize = 20; // the embedded store is written to ten times a second instead of 200
const writeEveryMs = 100;
const pollEveryMs = 5000; // 5 seconds

/** The delay after the n-th failure: 1, 3, 9, 27, 81 minutes, then four hours. */
export function retryAfterMs(attempts: number): number {
  return Math.min(60_000 * 3 ** (attempts - 1), 4 * 60 * 60 * 1000);
}

type SendCounts = { sent: number; toRetry: number; failed: number };

type RunnerOptions = {
  signal?: AbortSignal;
  backoff?: (attempts: number) => number;
};

/**
 * Sends every due mail, and returns when none is left. Any number of runners can do this at once: only the one that
 * holds a mail's lease sends it. If a runner dies, its leases expire within 15 seconds and another runner sends those
 * mails again. Resend deduplicates them by id, a file is replaced, and SMTP may deliver one twice with one Message-ID.
 */
export async function sendDueMails(
  db: Db,
  mailSender: Sender,
  { signal, backoff = retryAfterMs }: RunnerOptions = {},
): Promise<SendCounts> {
  await requireKeys(db);
  const tally: SendCounts = { sent: 0, toRetry: 0, failed: 0 };
  const leaseMs = mailSender.timeoutMs + leaseSlackMs;
  const writeOutcome = outcomeWriter(db, signal);
  let claimExpiresAtMs = 0; // on the monotonic clock
  await processQueue({
    maxConcurrent: mailSender.maxConcurrent,
    batchSize,
    minIntervalMs,
    claim(limit) {
      claimExpiresAtMs = performance.now() + leaseMs;
      return reclaimExpiredLeases(db, (isSettling) =>
        claimDueMails(db, { limit, leaseMs, nowMs: Date.now(), isSettling }),
      );
    },
    async processItem(email) {
      const leaseExpiresAtMs = claimExpiresAtMs;
      // If the store was slow, the lease might expire before the sender's timeout.
      const isLate = leaseExpiresAtMs - performance.now() < mailSender.timeoutMs + leaseSlackMs / 2;
      const { outcome, pauseMs } = isLate ? tooLate : await send(db, mailSender, email, backoff);
      await writeOutcome({ email, outcome });
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
    isUncounted: true,
    nextAttemptAtMs: 0,
  },
  pauseMs: 0,
};

async function send(
  db: Db,
  mailSender: Sender,
  { id, accountId, kind, to, attempts, firstAttemptAtMs }: ClaimedEmail,
  backoff: (attempts: number) => number,
): Promise<Sent> {
  const linkKey = await findLinkKey(db, firstAttemptAtMs);
  const error = await trySending(mailSender, () => ({
    id,
    to,
    ...renderOnboarding(kind, accountId, linkKey),
  }));
  if (!error) return { outcome: { state: "sent" }, pauseMs: 0 };
  const { message: failure, mayRetry, mayArrive, pauseMs } = error;
  log().warn({ id, kind, attempts, failure }, "a mail was not sent");
  if (!mayRetry) return { outcome: { state: "failed", failure, mayArrive }, pauseMs };
  const nextAttemptAtMs = Date.now() + (pauseMs || backoff(attempts));
  const isUncounted = pauseMs > 0; // a response that asks us to slow down
  return { outcome: { state: "scheduled", failure, mayArrive, isUncounted, nextAttemptAtMs }, pauseMs };
}

/** Writes outcomes in batches, because the embedded store waits for the disk on each write. */
function outcomeWriter(db: Db, signal: AbortSignal | undefined): (finished: FinishedMail) => Promise<void> {
  type Entry = { finished: FinishedMail; resolve: () => void };
  let waiting: Entry[] = [];
  let isWriting = false;
  async function write() {
    isWriting = true;
    while (waiting.length > 0) {
      await sleep(writeEveryMs);
      const entries = waiting;
      waiting = [];
      const mails = entries.map(({ finished }) => finished);
      await recordThroughOutage(() => recordOutcomes(db, mails), signal).catch(() => {});
      for (const { resolve } of entries) resolve();
    }
    isWriting = false;
  }
  return (finished) =>
    new Promise((resolve) => {
      waiting.push({ finished, resolve });
      if (!isWriting) void write();
    });
}

/** Starts this process's runner, which polls every five seconds. `stop` waits for the mails being sent. */
export function startOnboardingRunner(): BackgroundLoop {
  return startBackgroundLoop(async (signal) => sendDueMails(await store(), sender(), { signal }), {
    pauseMs: pollEveryMs,
    failed: "the onboarding mails could not be read; the runner retries shortly",
  });
}
