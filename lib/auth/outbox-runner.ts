import { addressMail } from "@/lib/auth/addressed-mail";
import { createClerkInvitation } from "@/lib/auth/clerk-invitations";
import { printCode } from "@/lib/auth/code-terminal";
import { sweepCodes } from "@/lib/auth/sign-in-code-allowances";
import { type Db, store } from "@/lib/db/store";
import { enqueueAppEndMails } from "@/lib/mail/app-end-mails";
import { enqueueLicenceEnding } from "@/lib/mail/licence-mails";
import { requireKeys } from "@/lib/mail/link-keys";
import { nextAttempt, SendError, type Sender, trySending } from "@/lib/mail/mail";
import { type ClaimedMail, claimMails, deleteMail, recordAttempt, rescheduleMail } from "@/lib/mail/outbox";
import { leaseSlackMs, processQueue } from "@/lib/mail/queue";
import { sender } from "@/lib/mail/sender";
import { reclaimExpiredLeases, recordThroughOutage } from "@/lib/mail/store-outage";
import { enqueueTrialMails } from "@/lib/mail/trial-mails";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";

const maxConcurrent = 5;
const scheduledIntervalMs = 5; // at most 200 mails a second, which leaves most of the process to the API
const sweepEveryMs = 60_000; // 1 minute

/** The delays between attempts: short at first for a person who waits, then beyond the five minutes of greylisting. */
const retryAfterSeconds = [1, 5, 15, 60, 120, 300];
const lastRetryAfterSeconds = 60 * 60; // 1 hour, for what is wanted for days

/** The id of a mail that was not sent, and the reason. */
export type UnsentMail = { id: string; failure: string };

type RunnerOptions = { signal?: AbortSignal | undefined; now?: () => number };

/**
 * Sends every mail that is due and that is not scheduled: codes, invitations and what happened to an account. Returns
 * those that were not sent. Any number of processes can do this at once: the one that holds a mail's lease sends it, and
 * another one can when the lease has expired.
 */
export function sendMails(db: Db, mailSender: Sender, options?: RunnerOptions): Promise<UnsentMail[]> {
  return sendDue(db, mailSender, { ...options, isScheduled: false });
}

/** Sends every mail that a date makes due: the ends of trials, licences and apps. */
export async function sendScheduledMails(
  db: Db,
  mailSender: Sender,
  options: RunnerOptions = {},
): Promise<void> {
  const { signal, now = Date.now } = options;
  await requireKeys(db);
  for (let isMore = true; isMore && !signal?.aborted; ) {
    const trials = await enqueueTrialMails(db, now());
    const apps = await enqueueAppEndMails(db, now());
    const licences = await enqueueLicenceEnding(db, now());
    await sendDue(db, mailSender, { ...options, isScheduled: true });
    isMore = trials + apps + licences > 0;
  }
}

async function sendDue(
  db: Db,
  mailSender: Sender,
  { isScheduled, signal, now = Date.now }: RunnerOptions & { isScheduled: boolean },
): Promise<UnsentMail[]> {
  await requireKeys(db);
  const unsent: UnsentMail[] = [];
  const leaseMs = mailSender.timeoutMs + leaseSlackMs;
  await processQueue({
    maxConcurrent: Math.min(mailSender.maxConcurrent, maxConcurrent),
    minIntervalMs: isScheduled ? scheduledIntervalMs : 0,
    claim: (limit) =>
      reclaimExpiredLeases(db, (isSettling) =>
        claimMails(db, { limit, leaseMs, nowMs: now(), isSettling, isScheduled }),
      ),
    async processItem(claimed) {
      const failure = await settle(db, mailSender, claimed, { signal, now }).catch((failure) => {
        // The mail is retried when its lease has expired.
        log().warn({ err: failure }, "the outcome of a mail of the outbox could not be recorded");
      });
      if (failure) unsent.push({ id: claimed.id, failure: failure.message });
      return failure?.pauseMs ?? 0;
    },
    signal,
  });
  return unsent;
}

async function settle(
  db: Db,
  mailSender: Sender,
  claimed: ClaimedMail,
  { signal, now }: { signal: AbortSignal | undefined; now: () => number },
): Promise<SendError | undefined> {
  const { id, mail, attempts, expires_at_ms } = claimed;
  const isOver = expires_at_ms <= now();
  if (!mail && !isOver) {
    if (attempts === 1) log().error({ id }, "a mail cannot be opened; it is kept until it expires");
    await rescheduleMail(db, claimed, { attempts, atMs: now() + retryAfterMs(attempts) });
    return undefined;
  }
  const addressed = mail && !isOver ? await addressMail(db, mail, now()) : undefined;
  if (!mail || !addressed) {
    await deleteMail(db, claimed);
    return undefined;
  }
  const { to, render } = addressed;
  if (mail.kind === "code" && attempts === 1) printCode(to, mail.code);
  const failure = await (render ? trySending(mailSender, () => ({ id, to, ...render() })) : tryInviting(to));
  const next = failure && nextAttempt(failure, attempts, now(), retryAfterMs);
  const willRetry = next !== undefined && next.atMs < expires_at_ms;
  if (failure) {
    const words = willRetry ? "a mail was not sent yet" : "a mail was given up";
    log().warn({ id, kind: mail.kind, attempts, failure: failure.message }, words);
  }
  await recordThroughOutage(
    () => (willRetry ? rescheduleMail(db, claimed, next) : deleteMail(db, claimed)),
    signal,
  );
  // After the mail has left the queue: if this fails, only the note is lost, and no mail is sent twice.
  const state = failure ? (willRetry ? "retrying" : "failed") : "sent";
  await recordAttempt(db, id, { to, kind: mail.kind }, { state, failure: failure?.message }, now());
  return failure;
}

function retryAfterMs(attempts: number): number {
  return (retryAfterSeconds[attempts - 1] ?? lastRetryAfterSeconds) * 1000;
}

async function tryInviting(email: string): Promise<SendError | undefined> {
  try {
    await createClerkInvitation(email);
    return undefined;
  } catch (failure) {
    return new SendError((failure as Error).message, { mayRetry: true });
  }
}

/**
 * Sends the mails that are due and not scheduled, one round at a time in this process, and returns when all of them were
 * tried. Once a minute it also deletes expired codes.
 */
export function sendMailsNow(signal?: AbortSignal): Promise<void> {
  const rounds = processSingleton("outbox", () => ({
    running: undefined as Promise<void> | undefined,
    isRequested: false,
    sweepAtMs: 0,
  }));
  rounds.isRequested = true;
  rounds.running ??= (async () => {
    while (rounds.isRequested) {
      rounds.isRequested = false;
      await sendMails(await store(), sender(), { signal });
      if (performance.now() < rounds.sweepAtMs) continue;
      rounds.sweepAtMs = performance.now() + sweepEveryMs;
      await sweepCodes(await store(), Date.now());
    }
  })().finally(() => {
    rounds.running = undefined;
  });
  return rounds.running;
}
