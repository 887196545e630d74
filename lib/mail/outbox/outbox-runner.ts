import { setTimeout as sleep } from "node:timers/promises";
import { answersWithinMs } from "@/lib/config/limits";
import type { Db } from "@/lib/db/store";
import { requireKeys } from "@/lib/mail/links/link-keys";
import { type RenderedMail, SendError, type Sender, trySending } from "@/lib/mail/mail";
import { processQueue } from "@/lib/mail/outbox/adaptive-concurrency";
import { log } from "@/lib/runtime/log";

/** A mail that only this runner may send, until its lease expires. After `triedUntilMs` it is given up. */
export type Claimed = {
  id: string;
  kind: string;
  attempts: number;
  leaseUntilMs: number;
  triedUntilMs: number;
};

/** Up to `limit` due mails are claimed until `leaseUntilMs`. `isSettling`: those claimed before are left alone. */
export type ClaimOptions = { limit: number; leaseUntilMs: number; nowMs: number; isSettling?: boolean };

/** A claimed mail that is still wanted: its recipient, and its content or what has another provider mail it. */
export type WantedMail = { to: string } & (
  | { render: () => RenderedMail }
  | { send: () => Promise<SendError | undefined> }
);

/** What became of an attempt: it was sent, or why not, and when it is tried again, if it is. */
type Outcome = {
  to: string;
  failure: SendError | undefined;
  next: { attempts: number; atMs: number } | undefined;
};

/** Mails in a table of the store, each sent by the runner that has leased it. */
export type Outbox<Mail extends Claimed> = {
  maxConcurrent: number;
  minIntervalMs: number;
  retryAfterMs: (attempts: number) => number;
  /** `undefined` if none is due. */
  claim: (db: Db, options: ClaimOptions) => Promise<Mail[] | undefined>;
  /** Looks up who gets a mail. One that is not wanted, or not now, is settled and left out: `undefined`. */
  address: (db: Db, mail: Mail, nowMs: number) => Promise<WantedMail | undefined>;
  /** Records an outcome, unless another runner has claimed the mail since. */
  record: (db: Db, mail: Mail, outcome: Outcome, nowMs: number) => Promise<void>;
};

/** How much longer a lease is than the sender's timeout: for the store and clock skew between instances. */
const leaseSlackMs = 5000;

export const leaseMs = answersWithinMs.mail + leaseSlackMs;

/*
 * During an outage of the store, the runner that sent a mail cannot record that, and the mail's lease expires. When the
 * store is back, that runner records it within seconds; only after those may another one take the mail for abandoned.
 */
const settlingMs = 10_000; // an attempt that the outage holds up takes 5 s at most
const recordEveryMs = 250;
const recordForMs = { running: 5 * 60_000, stopping: 10_000 };

const storeFailedAtMs = new WeakMap<Db, number>();

/**
 * Sends every due mail of an outbox, and returns when none is left. Any number of runners can do this at once: only the one
 * that holds a mail's lease sends it. If a runner dies, its leases expire within 15 seconds and another runner sends those
 * mails again. Resend deduplicates them by id, a file is replaced, and SMTP may deliver one twice with one Message-ID.
 */
export async function sendDueMails<Mail extends Claimed>(
  db: Db,
  mailSender: Sender,
  outbox: Outbox<Mail>,
  { signal, now = Date.now }: { signal?: AbortSignal; now?: () => number } = {},
) {
  await requireKeys(db);
  const counts = { sent: 0, toRetry: 0, failed: 0 };
  let claimedAtMs = 0;

  async function claim(limit: number): Promise<Mail[] | undefined> {
    claimedAtMs = performance.now();
    const isSettling = claimedAtMs - (storeFailedAtMs.get(db) ?? Number.NEGATIVE_INFINITY) < settlingMs;
    const leaseUntilMs = now() + leaseMs;
    try {
      return await outbox.claim(db, { limit, leaseUntilMs, nowMs: now(), isSettling });
    } catch (failure) {
      storeFailedAtMs.set(db, performance.now());
      throw failure;
    }
  }

  async function attempt(mail: Mail): Promise<number> {
    const { id, kind, attempts, triedUntilMs } = mail;
    const lateAtMs = claimedAtMs + leaseSlackMs / 2;
    const reason = performance.now() >= lateAtMs ? "its turn came too late" : "the store was too slow";
    const wanted = await outbox.address(db, mail, now());
    if (!wanted) return 0;
    const { to } = wanted;
    const send =
      "send" in wanted ? wanted.send : () => trySending(mailSender, () => ({ id, to, ...wanted.render() }));
    // The lease might expire before the sender's timeout.
    const isLate = performance.now() >= lateAtMs;
    const failure = isLate ? new SendError(reason, { mayRetry: true, pauseMs: 1 }) : await send();
    const pauseMs = failure?.pauseMs ?? 0;
    const again = isLate
      ? { attempts: attempts - 1, atMs: now() + pauseMs }
      : { attempts, atMs: now() + Math.max(pauseMs, outbox.retryAfterMs(attempts)) };
    const next = failure?.mayRetry && again.atMs < triedUntilMs ? again : undefined;
    if (failure) {
      const words = next ? "a mail was not sent yet" : "a mail was given up";
      log().warn({ id, kind, attempts, failure: failure.message }, words);
    }
    await recordThroughOutage(() => outbox.record(db, mail, { to, failure, next }, now()), signal);
    counts[next ? "toRetry" : failure ? "failed" : "sent"]++;
    return pauseMs;
  }

  await processQueue({
    maxConcurrent: Math.min(mailSender.maxConcurrent, outbox.maxConcurrent),
    minIntervalMs: outbox.minIntervalMs,
    claim,
    processItem: (mail) =>
      attempt(mail).catch((failure) => {
        // The mail is tried again when its lease has expired.
        log().warn({ err: failure }, "the outcome of a mail could not be recorded");
        return 0;
      }),
    signal,
  });
  return counts;
}

/** Records an outcome, again until the store answers, for five minutes, or for ten seconds while the process stops. */
async function recordThroughOutage(record: () => Promise<void>, signal?: AbortSignal): Promise<void> {
  for (const startedAtMs = performance.now(); ; ) {
    try {
      return await record();
    } catch (failure) {
      const waitedMs = performance.now() - startedAtMs;
      if (waitedMs > (signal?.aborted ? recordForMs.stopping : recordForMs.running)) throw failure;
      log().warn({ err: failure }, "the outcome of a mail could not be recorded; it is tried again");
      await sleep(recordEveryMs);
    }
  }
}
