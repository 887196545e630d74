import { printCode } from "@/lib/auth/code-terminal";
import { findInvitationProblem, invitationUrl } from "@/lib/auth/invitation-token";
import { sweepCodes } from "@/lib/auth/sign-in-code-allowances";
import { codeMail, invitationMail } from "@/lib/auth/sign-in-mail";
import { type Db, store } from "@/lib/db/store";
import { type Mail, type SendError, type Sender, trySending } from "@/lib/mail/mail";
import { processQueue } from "@/lib/mail/queue";
import { sender } from "@/lib/mail/sender";
import {
  type ClaimedMail,
  claimSignInMails,
  dropSignInMail,
  putBackSignInMail,
  type SignInMail,
} from "@/lib/mail/sign-in-outbox";
import { processSingleton } from "@/lib/process-singleton";
import { type BackgroundLoop, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

const slots = 5;
const leaseSlackMs = 5000; // what a lease has over the sender's time: for the store, and for clocks that differ
const lookEveryMs = 250;
const sweepEveryMs = 60_000; // 1 minute

/** When a mail is tried again: soon enough for who waits before the screen, and past a greylist's five minutes. */
const retryAfterSeconds = [1, 5, 15, 60, 120, 300];
const lastRetryAfterSeconds = 60 * 60; // 1 hour, for invitations

/** A mail that was not sent, by its id, and why in a few words. */
export type UnsentMail = { id: string; failure: string };

/**
 * Sends every sign-in mail that is due, and returns when none is. Any number of processes may do this at once: a mail
 * is sent by the one that holds its lease, and by another one once that is over.
 */
export async function sendSignInMails(
  db: Db,
  through: Sender,
  { signal, now = Date.now }: { signal?: AbortSignal | undefined; now?: () => number } = {},
): Promise<UnsentMail[]> {
  const leaseMs = through.withinMs + leaseSlackMs;
  const unsent: UnsentMail[] = [];
  const processItem = async (claimed: ClaimedMail) => {
    const failure = await settle(db, through, claimed, now);
    if (failure) unsent.push({ id: claimed.id, failure: failure.message });
    return failure?.pauseMs ?? 0;
  };
  await processQueue({
    slots,
    batch: slots,
    everyMs: 0,
    claim: (most) => claimSignInMails(db, { most, leaseMs, nowMs: now() }),
    processItem: (claimed) =>
      processItem(claimed).catch((failure) => {
        // Its lease runs out, and it is tried again.
        log().warn({ err: failure, id: claimed.id }, "a sign-in mail's outcome could not be written down");
        return 0;
      }),
    signal,
  });
  return unsent;
}

async function settle(
  db: Db,
  through: Sender,
  claimed: ClaimedMail,
  now: () => number,
): Promise<SendError | undefined> {
  const { id, mail, attempts, expiresAtMs } = claimed;
  if (!mail || expiresAtMs <= now() || !(await isExpected(db, mail, now()))) {
    await dropSignInMail(db, claimed);
    return undefined;
  }
  if (mail.kind === "code" && attempts === 1) printCode(mail.to, mail.code);
  const failure = await trySending(through, () => ({ id, ...render(mail) }));
  const next = failure && nextAttempt(failure, attempts, now());
  const goesOn = next !== undefined && next.atMs < expiresAtMs;
  if (failure) {
    const words = goesOn ? "a sign-in mail was not sent yet" : "a sign-in mail was given up";
    log().warn({ id, kind: mail.kind, attempts, failure: failure.message }, words);
  }
  await (goesOn ? putBackSignInMail(db, claimed, next) : dropSignInMail(db, claimed));
  return failure;
}

/** When it is tried again, if ever. Who was told to come back later has not tried. */
function nextAttempt({ mayRetry, pauseMs }: SendError, attempts: number, nowMs: number) {
  if (!mayRetry) return undefined;
  if (pauseMs > 0) return { attempts: attempts - 1, atMs: nowMs + pauseMs };
  return { attempts, atMs: nowMs + retryAfterMs(attempts) };
}

/** How long after its n-th failure a mail is tried again. */
function retryAfterMs(attempts: number): number {
  return (retryAfterSeconds[attempts - 1] ?? lastRetryAfterSeconds) * 1000;
}

/** A code is posted for everybody who asks, and sent to accounts; a link may have been used or replaced meanwhile. */
async function isExpected(db: Db, mail: SignInMail, nowMs: number): Promise<boolean> {
  if (mail.kind === "invitation") return !(await findInvitationProblem(db, mail.token, nowMs));
  const account = await db
    .selectFrom("accounts")
    .select("id")
    .where("email", "=", mail.to)
    .where("subject", "is not", null)
    .executeTakeFirst();
  return account !== undefined;
}

function render(mail: SignInMail): Omit<Mail, "id"> {
  return mail.kind === "code" ? codeMail(mail) : invitationMail(mail.to, invitationUrl(mail.token));
}

/**
 * Sends what is due now, in this process and one round at a time, and returns when all that lay there has been tried.
 * Now and then it clears away the codes that are over.
 */
export function sendSignInMailsNow(signal?: AbortSignal): Promise<void> {
  const rounds = processSingleton("sign-in mails", () => ({
    running: undefined as Promise<void> | undefined,
    isAskedAgain: false,
    sweepAtMs: 0,
  }));
  rounds.isAskedAgain = true;
  rounds.running ??= (async () => {
    while (rounds.isAskedAgain) {
      rounds.isAskedAgain = false;
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
 * Starts this process's runner of sign-in mails: it looks for what was posted, what has to be tried again, and what
 * another process left behind. It looks at moments of its own, so that no request shows by what follows it whether a
 * mail was sent.
 */
export function startSignInRunner(): BackgroundLoop {
  return startBackgroundLoop(sendSignInMailsNow, {
    pauseMs: lookEveryMs,
    failed: "the sign-in mails could not be read; the runner looks again shortly",
  });
}
