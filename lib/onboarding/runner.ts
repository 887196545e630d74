import { setTimeout as sleep } from "node:timers/promises";
import { type Sender, trySending } from "@/lib/mail/mail";
import { sender } from "@/lib/mail/sender";
import { type ClaimedEmail, claimDue, finish, type Outcome } from "@/lib/onboarding/claims";
import { renderOnboarding } from "@/lib/onboarding/letters";
import { log } from "@/lib/process/log";
import { type Loop, startLoop } from "@/lib/process/loop";
import { type Db, store } from "@/lib/store/store";

const atOnce = 5;
const leaseSlackMs = 5000; // what a lease has over the sender's time: for the store, and for clocks that differ
const lookEveryMs = 5000; // 5 seconds
const longestPauseMs = 60_000; // 1 minute

/** When a mail is tried again: 1, 3, 9, 27, 81 minutes after each failure, then every four hours. */
export function retryAfterMs(attempts: number): number {
  return Math.min(60_000 * 3 ** (attempts - 1), 4 * 60 * 60 * 1000);
}

/** How many mails were sent, will be tried again, and were given up. */
export type Tally = { sent: number; toRetry: number; failed: number };

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
export async function sendDue(
  db: Db,
  through: Sender,
  { signal, backoff = retryAfterMs }: RunnerOptions = {},
): Promise<Tally> {
  const tally: Tally = { sent: 0, toRetry: 0, failed: 0 };
  while (!signal?.aborted) {
    const leaseMs = through.withinMs + leaseSlackMs;
    const claimed = await claimDue(db, { most: atOnce, leaseMs, nowMs: Date.now() });
    if (claimed.length === 0) break;
    const pauses = await Promise.all(
      claimed.map(async (email) => {
        const { outcome, pauseMs } = await deal(through, email, backoff);
        await writeDown(db, email, outcome);
        tally[outcome.state === "scheduled" ? "toRetry" : outcome.state]++;
        return pauseMs;
      }),
    );
    const pauseMs = Math.min(Math.max(...pauses), longestPauseMs);
    if (pauseMs > 0) await sleep(pauseMs, undefined, signal ? { signal } : {}).catch(() => {});
  }
  return tally;
}

async function deal(
  through: Sender,
  email: ClaimedEmail,
  backoff: (attempts: number) => number,
): Promise<{ outcome: Outcome; pauseMs: number }> {
  // The store was so slow that the lease might be over before the sender is.
  if (email.leaseUntilMs - Date.now() < through.withinMs + leaseSlackMs / 2) {
    const failure = "the store was too slow";
    return {
      outcome: { state: "scheduled", failure, mayArrive: false, nextAttemptAtMs: Date.now() },
      pauseMs: 0,
    };
  }
  const { id, accountId, kind, to, attempts } = email;
  const unsent = await trySending(through, () => ({ id, to, ...renderOnboarding(kind, accountId) }));
  if (!unsent) return { outcome: { state: "sent" }, pauseMs: 0 };
  const { message: failure, mayRetry, mayArrive, pauseMs } = unsent;
  log().warn({ id, kind, attempts, failure }, "a mail was not sent");
  if (!mayRetry) return { outcome: { state: "failed", failure, mayArrive }, pauseMs };
  const nextAttemptAtMs = Date.now() + (pauseMs || backoff(attempts));
  return { outcome: { state: "scheduled", failure, mayArrive, nextAttemptAtMs }, pauseMs };
}

/** Tries until the lease is over: what stays unwritten is sent again. */
async function writeDown(db: Db, email: ClaimedEmail, outcome: Outcome): Promise<void> {
  for (;;) {
    try {
      return await finish(db, email, outcome);
    } catch (failure) {
      log().warn(
        { err: failure, id: email.id, state: outcome.state },
        "a mail's outcome could not be written down",
      );
      if (Date.now() > email.leaseUntilMs) return;
      await sleep(250);
    }
  }
}

/** Starts this process's runner: it looks for due mail every five seconds. `stop` waits for the mail in flight. */
export function startRunner(): Loop {
  return startLoop(async (signal) => sendDue(await store(), sender(), { signal }), {
    pauseMs: lookEveryMs,
    failed: "the outbox could not be read; the runner looks again shortly",
  });
}
