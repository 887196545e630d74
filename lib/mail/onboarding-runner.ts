import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@/lib/db/store";
import { findLinkKey, requireKeys } from "@/lib/mail/link-keys";
import { nextAttempt, SendError, type Sender, trySending } from "@/lib/mail/mail";
import {
  type ClaimedEmail,
  claimDueMails,
  type FinishedMail,
  recordOutcomes,
} from "@/lib/mail/onboarding-claims";
import { leaseSlackMs, processQueue } from "@/lib/mail/queue";
import { reclaimExpiredLeases, recordThroughOutage } from "@/lib/mail/store-outage";
import { renderOnboarding } from "@/lib/mail/texts/onboarding";
import { log } from "@/lib/runtime/log";

const minIntervalMs = 5; // at most 200 mails a second, which leaves most of the process to the API
const batchSize = 20; // the embedded store is written to ten times a second instead of 200
const writeEveryMs = 100;

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
      const finished = isLate ? tooLate(email) : await send(db, mailSender, email, backoff);
      await writeOutcome(finished);
      const { failure, next } = finished;
      tally[next ? "toRetry" : failure ? "failed" : "sent"]++;
      return failure?.pauseMs ?? 0;
    },
    signal,
  });
  return tally;
}

function tooLate(email: ClaimedEmail): FinishedMail {
  const failure = new SendError("the store was too slow", { mayRetry: true });
  return { ...email, failure, next: { attempts: email.attempts - 1, atMs: 0 } };
}

async function send(
  db: Db,
  mailSender: Sender,
  email: ClaimedEmail,
  backoff: (attempts: number) => number,
): Promise<FinishedMail> {
  const { id, accountId, kind, to, attempts, firstAttemptAtMs } = email;
  const linkKey = await findLinkKey(db, firstAttemptAtMs);
  const failure = await trySending(mailSender, () => ({
    id,
    to,
    ...renderOnboarding(kind, accountId, linkKey),
  }));
  if (failure) log().warn({ id, kind, attempts, failure: failure.message }, "a mail was not sent");
  return { ...email, failure, next: failure && nextAttempt(failure, attempts, Date.now(), backoff) };
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
