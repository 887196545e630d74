import { createClerkInvitation } from "@/lib/auth/clerk-invitations";
import { printCode } from "@/lib/auth/code-terminal";
import { findInvitationProblem, hasOpenInvitation, invitationUrl } from "@/lib/auth/invitation-token";
import { sweepCodes } from "@/lib/auth/sign-in-code-allowances";
import {
  codeMail,
  invitationMail,
  newAppMail,
  newBrowserMail,
  passkeyMail,
  replayedAppMail,
} from "@/lib/auth/sign-in-mail";
import { type Db, store } from "@/lib/db/store";
import { requireKeys } from "@/lib/mail/link-keys";
import { type Mail, SendError, type Sender, trySending } from "@/lib/mail/mail";
import { sendLeasedMails } from "@/lib/mail/queue";
import { sender } from "@/lib/mail/sender";
import {
  type ClaimedMail,
  claimSignInMails,
  deleteSignInMail,
  recordAttempt,
  rescheduleSignInMail,
  type SignInMail,
} from "@/lib/mail/sign-in-outbox";
import { claimAfterOutage, recordThroughOutage } from "@/lib/mail/store-outage";
import { processSingleton } from "@/lib/process-singleton";
import { type BackgroundLoop, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

const maxConcurrent = 5;
const pollEveryMs = 250;
const sweepEveryMs = 60_000; // 1 minute

/** The delays between attempts: short at first for a person who waits, then beyond the five minutes of greylisting. */
const retryAfterSeconds = [1, 5, 15, 60, 120, 300];
const lastRetryAfterSeconds = 60 * 60; // 1 hour, for invitations

/** The id of a mail that was not sent, and the reason. */
export type UnsentMail = { id: string; failure: string };

/** Sends every sign-in mail that is due, as {@link sendLeasedMails} does. Returns those that were not sent. */
export async function sendSignInMails(
  db: Db,
  mailSender: Sender,
  { signal, now = Date.now }: { signal?: AbortSignal | undefined; now?: () => number } = {},
): Promise<UnsentMail[]> {
  await requireKeys(db);
  const unsent: UnsentMail[] = [];
  await sendLeasedMails(mailSender, {
    name: "a sign-in mail",
    batchSize: maxConcurrent,
    claim: (limit, leaseMs) =>
      claimAfterOutage(db, (isSettling) =>
        claimSignInMails(db, { limit, leaseMs, nowMs: now(), isSettling }),
      ),
    async settle(claimed) {
      const failure = await settle(db, mailSender, claimed, { signal, now });
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
  const { id, mail, attempts, expiresAtMs } = claimed;
  if (expiresAtMs <= now() || (mail && !(await isExpected(db, mail, now())))) {
    await deleteSignInMail(db, claimed);
    return undefined;
  }
  if (!mail) {
    if (attempts === 1) log().error({ id }, "a sign-in mail cannot be opened; it is kept until it expires");
    await rescheduleSignInMail(db, claimed, { attempts, atMs: now() + retryAfterMs(attempts) });
    return undefined;
  }
  if (mail.kind === "code" && attempts === 1) printCode(mail.to, mail.code);
  const failure = await (mail.kind === "clerk invitation"
    ? tryInviting(mail.to)
    : trySending(mailSender, () => ({ id, ...render(mail) })));
  const next = failure && nextAttempt(failure, attempts, now());
  const willRetry = next !== undefined && next.atMs < expiresAtMs;
  if (failure) {
    const words = willRetry ? "a sign-in mail was not sent yet" : "a sign-in mail was given up";
    log().warn({ id, kind: mail.kind, attempts, failure: failure.message }, words);
  }
  await recordThroughOutage(
    () => (willRetry ? rescheduleSignInMail(db, claimed, next) : deleteSignInMail(db, claimed)),
    signal,
  );
  // After the mail has left the queue: if this fails, only the note is lost, and no mail is sent twice.
  const state = failure ? (willRetry ? "retrying" : "failed") : "sent";
  await recordAttempt(db, id, mail, { state, failure: failure?.message }, now());
  return failure;
}

/** The next attempt, if there is one. A response that asks us to come back later does not count as an attempt. */
function nextAttempt({ mayRetry, pauseMs }: SendError, attempts: number, nowMs: number) {
  if (!mayRetry) return undefined;
  if (pauseMs > 0) return { attempts: attempts - 1, atMs: nowMs + pauseMs };
  return { attempts, atMs: nowMs + retryAfterMs(attempts) };
}

/** The delay after the n-th failure. */
function retryAfterMs(attempts: number): number {
  return (retryAfterSeconds[attempts - 1] ?? lastRetryAfterSeconds) * 1000;
}

/** Has Clerk mail an invitation that was queued. Returns the failure, if there is one. */
async function tryInviting(email: string): Promise<SendError | undefined> {
  try {
    await createClerkInvitation(email);
    return undefined;
  } catch (failure) {
    return new SendError((failure as Error).message, { mayRetry: true });
  }
}

/** Whether a mail is still wanted: all but invitations go to accounts only, and an invitation may have been used. */
async function isExpected(db: Db, mail: SignInMail, nowMs: number): Promise<boolean> {
  if (mail.kind === "clerk invitation") return hasOpenInvitation(db, mail.to, nowMs);
  if (mail.kind === "invitation") return !(await findInvitationProblem(db, mail.token, nowMs));
  const account = await db
    .selectFrom("accounts")
    .select("id")
    .where("email", "=", mail.to)
    .where("subject", "is not", null)
    .executeTakeFirst();
  return account !== undefined;
}

function render(mail: Exclude<SignInMail, { kind: "clerk invitation" }>): Omit<Mail, "id"> {
  switch (mail.kind) {
    case "code":
      return codeMail(mail);
    case "invitation":
      return invitationMail({ ...mail, url: invitationUrl(mail.token) });
    case "passkey":
      return passkeyMail(mail);
    case "new browser":
      return newBrowserMail(mail);
    case "new app":
      return newAppMail(mail);
    case "replayed app":
      return replayedAppMail(mail);
  }
}

/**
 * Sends the mails that are due, one round at a time in this process, and returns when all of them were tried. Once a
 * minute it also deletes expired codes.
 */
export function sendSignInMailsNow(signal?: AbortSignal): Promise<void> {
  const rounds = processSingleton("sign-in mails", () => ({
    running: undefined as Promise<void> | undefined,
    isRequested: false,
    sweepAtMs: 0,
  }));
  rounds.isRequested = true;
  rounds.running ??= (async () => {
    while (rounds.isRequested) {
      rounds.isRequested = false;
      await sendSignInMails(await store(), sender(), { signal });
      if (performance.now() < rounds.sweepAtMs) continue;
      rounds.sweepAtMs = performance.now() + sweepEveryMs;
      await sweepCodes(await store(), Date.now());
    }
  })().finally(() => {
    rounds.running = undefined;
  });
  return rounds.running;
}

/**
 * Starts this process's runner of sign-in mails. It polls for new mails, retries, and mails that another process left
 * behind. Because it polls independently of requests, their timing does not show whether a mail was sent.
 */
export function startSignInRunner(): BackgroundLoop {
  return startBackgroundLoop(sendSignInMailsNow, {
    pauseMs: pollEveryMs,
    failed: "the sign-in mails could not be read; the runner retries shortly",
  });
}
