import { wasErasedSince } from "@/lib/db/erasures";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { mailKinds, type QueuedMail } from "@/lib/mail/kinds";
import { deriveMailId } from "@/lib/mail/mail";
import { recordAttempt } from "@/lib/mail/outbox/attempts";
import {
  type ClaimedMail,
  claimMails,
  deleteMail,
  enqueueMail,
  rescheduleMail,
} from "@/lib/mail/outbox/outbox";
import { leaseMs, type Outbox } from "@/lib/mail/outbox/outbox-runner";
import { hashEmail } from "@/lib/mail/outbox/suppressions";
import { noPrice, type ReadPrice } from "@/lib/mail/prices";
import { printCode } from "@/lib/mail/senders/code-terminal";
import { log } from "@/lib/runtime/log";

const retryAfterSeconds = [1, 5, 15, 60, 120, 300];

/** Codes, invitations and what happened to an account. */
export const outbox: Outbox<ClaimedMail> = {
  maxConcurrent: 5,
  minIntervalMs: 0,
  // Short at first, then beyond the five minutes of greylisting, and an hour for what is wanted for days.
  retryAfterMs: (attempts) => (retryAfterSeconds[attempts - 1] ?? 3600) * 1000,
  claim: (db, options) => claimMails(db, options, false),

  address: addressBy(noPrice),

  async record(db, claimed, { to, failure, next }, nowMs) {
    const { id, kind } = claimed;
    await (next ? rescheduleMail(db, claimed, next) : deleteMail(db, claimed));
    // Nothing is kept about an address that has no owner any more, also if the mail was on its way then.
    const sinceMs = claimed.leaseUntilMs - leaseMs;
    if (kind === "farewell" || (await wasErasedSince(db, hashEmail(to), sinceMs))) return;
    const state = failure ? (next ? "retrying" : "failed") : "sent";
    await recordAttempt(db, { id, to, kind, state, failure: failure?.message }, nowMs);
  },
};

/**
 * Mails that a date makes due: the ends of trials, licences and apps. They are queued when no queued one is due. Some name
 * what is sold, with its price.
 */
export const scheduledOutbox = (readPrice: ReadPrice): Outbox<ClaimedMail> => ({
  ...outbox,
  minIntervalMs: 5, // at most 200 mails a second, which leaves most of the process to the API
  claim: async (db, options) =>
    (await claimMails(db, options, true)) ?? ((await enqueueDueMails(db, options.nowMs)) ? [] : undefined),
  address: addressBy(readPrice),
});

function addressBy(readPrice: ReadPrice): Outbox<ClaimedMail>["address"] {
  return async (db, claimed, nowMs) => {
    const { id, mail, attempts, triedUntilMs } = claimed;
    if (triedUntilMs <= nowMs) return void (await deleteMail(db, claimed));
    if (!mail) {
      if (attempts === 1) log().error({ id }, "a mail cannot be opened; it is kept until it expires");
      const atMs = nowMs + outbox.retryAfterMs(attempts);
      return void (await rescheduleMail(db, claimed, { attempts, atMs }));
    }
    const wanted = await mailKinds.get(mail.kind)?.address(db, mail, nowMs, readPrice);
    if (!wanted) return void (await deleteMail(db, claimed));
    if (mail.kind === "code" && attempts === 1) printCode(wanted.to, mail.code);
    return wanted;
  };
}

/** Queues mails that a date has made due, and returns whether there were any. */
async function enqueueDueMails(db: Db, nowMs: number): Promise<boolean> {
  let wereAny = false;
  for (const [kind, { takeDue }] of mailKinds)
    if (takeDue)
      await transact(db, async (transaction) => {
        for (const { mail, about, untilMs } of await takeDue(transaction, nowMs)) {
          await enqueueMail(transaction, { ...mail, kind } as QueuedMail, {
            id: deriveMailId(about),
            nowMs,
            untilMs,
          });
          wereAny = true;
        }
      });
  return wereAny;
}
