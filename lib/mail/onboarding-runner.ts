import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@/lib/db/store";
import { findLinkKey, requireKeys } from "@/lib/mail/link-keys";
import { nextAttempt, SendError, type Sender, trySending } from "@/lib/mail/mail";
import { claimDueMails, type FinishedMail, recordOutcomes } from "@/lib/mail/onboarding-claims";
import { leaseSlackMs, processQueue } from "@/lib/mail/queue";
import { reclaimExpiredLeases, recordThroughOutage } from "@/lib/mail/store-outage";
import { renderOnboarding } from "@/lib/mail/texts/onboarding";
import { log } from "@/lib/runtime/log";

const minIntervalMs = 5; // at most 200 mails a second, which leaves most of the process to the API
const writeEveryMs = 100; // the embedded store is written to ten times a second instead of 200

/** The delay after the n-th failure: 1, 3, 9, 27, 81 minutes, then four hours. */
export function retryAfterMs(attempts: number): number {
  return Math.min(60_000 * 3 ** (attempts - 1), 4 * 60 * 60 * 1000);
}

type SendCounts = { sent: number; toRetry: number; failed: number };

/**
 * Sends every due mail, and returns when none is left. Any number of runners can do this at once: only the one that
 * holds a mail's lease sends it. If a runner dies, its leases expire within 15 seconds and another runner sends those
 * mails again. Resend deduplicates them by id, a file is replaced, and SMTP may deliver one twice with one Message-ID.
 */
export async function sendDueMails(
  db: Db,
  mailSender: Sender,
  { signal, backoff = retryAfterMs }: { signal?: AbortSignal; backoff?: typeof retryAfterMs } = {},
): Promise<SendCounts> {
  await requireKeys(db);
  const tally: SendCounts = { sent: 0, toRetry: 0, failed: 0 };
  const leaseMs = mailSender.timeoutMs + leaseSlackMs;
  const writeOutcome = outcomeWriter(db, signal);
  let claimExpiresAtMs = 0; // on the monotonic clock
  await processQueue({
    maxConcurrent: mailSender.maxConcurrent,
    minIntervalMs,
    claim(limit) {
      claimExpiresAtMs = performance.now() + leaseMs;
      return reclaimExpiredLeases(db, (isSettling) =>
        claimDueMails(db, { limit, leaseMs, nowMs: Date.now(), isSettling }),
      );
    },
    async processItem(email) {
      const { id, accountId, kind, to, attempts, firstAttemptAtMs } = email;
      const leftMs = claimExpiresAtMs - performance.now();
      // If the store was slow, the lease might expire before the sender's timeout.
      const isLate = leftMs < mailSender.timeoutMs + leaseSlackMs / 2;
      const linkKey = await findLinkKey(db, firstAttemptAtMs);
      const failure = isLate
        ? new SendError("the store was too slow", { mayRetry: true, pauseMs: 1 })
        : await trySending(mailSender, () => ({ id, to, ...renderOnboarding(kind, accountId, linkKey) }));
      if (failure) log().warn({ id, kind, attempts, failure: failure.message }, "a mail was not sent");
      const next = failure && nextAttempt(failure, attempts, Date.now(), backoff);
      await writeOutcome({ ...email, failure, next });
      tally[next ? "toRetry" : failure ? "failed" : "sent"]++;
      return failure?.pauseMs ?? 0;
    },
    signal,
  });
  return tally;
}

/** Writes outcomes in batches, because the embedded store waits for the disk on each write. */
function outcomeWriter(db: Db, signal: AbortSignal | undefined): (finished: FinishedMail) => Promise<void> {
  let waiting: FinishedMail[] = [];
  let written = Promise.resolve();
  async function write() {
    await sleep(writeEveryMs);
    const mails = waiting;
    waiting = [];
    await recordThroughOutage(() => recordOutcomes(db, mails), signal).catch(() => {});
  }
  return (finished) => {
    if (waiting.push(finished) === 1) written = written.then(write);
    return written;
  };
}
