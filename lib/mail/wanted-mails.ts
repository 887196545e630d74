import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { addressAppEndMail, takeAppEndMails } from "@/lib/mail/app-end-mails";
import { createClerkInvitation } from "@/lib/mail/clerk-invitations";
import { printCode } from "@/lib/mail/code-terminal";
import { findEmailChange, isWaiting } from "@/lib/mail/email-change-token";
import { findInvitationProblem, hasOpenInvitation, mailedInvitationUrl } from "@/lib/mail/invitation-token";
import {
  addressLicenceEnded,
  addressLicenceEnding,
  addressPaymentFailed,
  takeLicenceEndingMails,
} from "@/lib/mail/licence-mails";
import { deriveMailId, SendError } from "@/lib/mail/mail";
import { type MailContent, renderMail } from "@/lib/mail/mail-content";
import {
  type ClaimedMail,
  claimMails,
  deleteMail,
  enqueueMail,
  type QueuedMail,
  recordAttempt,
  rescheduleMail,
} from "@/lib/mail/outbox";
import type { Outbox, WantedMail } from "@/lib/mail/outbox-runner";
import { retryDelays } from "@/lib/mail/retry-delays";
import { accountDeletionMail, farewellMail } from "@/lib/mail/texts/account-deletion";
import { appEndMail, appInTurnMail, newAppMail, replayedAppMail } from "@/lib/mail/texts/apps";
import { automaticPurchaseStoppedMail, lowCreditsMail } from "@/lib/mail/texts/credits";
import { emailChangedMail, emailChangeMail } from "@/lib/mail/texts/email-change";
import { licenceEndedMail, licenceEndingMail, paymentFailedMail } from "@/lib/mail/texts/licence";
import * as signIn from "@/lib/mail/texts/sign-in";
import { trialEndedMail, trialEndingMail } from "@/lib/mail/texts/trial";
import { addressTrialMail, takeTrialMails } from "@/lib/mail/trial-mails";
import { confirmationUrl, replaceConfirmation } from "@/lib/mail/waitlist-mail";
import { log } from "@/lib/runtime/log";

/** Codes, invitations and what happened to an account. */
export const outbox: Outbox<ClaimedMail> = {
  maxConcurrent: 5,
  minIntervalMs: 0,
  retryAfterMs: retryDelays.whereOneWaits,
  claim: (db, options) => claimMails(db, options, false),

  async address(db, claimed, nowMs) {
    const { id, mail, attempts, triedUntilMs } = claimed;
    if (!mail && triedUntilMs > nowMs) {
      if (attempts === 1) log().error({ id }, "a mail cannot be opened; it is kept until it expires");
      await rescheduleMail(db, claimed, { attempts, atMs: nowMs + outbox.retryAfterMs(attempts) });
      return undefined;
    }
    const find = mail && triedUntilMs > nowMs && (kinds[mail.kind] as Address<QueuedMail>);
    const wanted = find && (await find(db, mail, nowMs));
    if (!wanted) {
      await deleteMail(db, claimed);
      return undefined;
    }
    if (mail.kind === "code" && attempts === 1) printCode(wanted.to, mail.code);
    return wanted;
  },

  async record(db, claimed, { to, failure, next }, nowMs) {
    const { id, kind } = claimed;
    await (next ? rescheduleMail(db, claimed, next) : deleteMail(db, claimed));
    if (kind === "farewell") return; // nothing is kept about the address any more
    const state = failure ? (next ? "retrying" : "failed") : "sent";
    await recordAttempt(db, { id, to, kind, state, failure: failure?.message }, nowMs);
  },
};

/** Mails that a date makes due: the ends of trials, licences and apps. They are queued when no queued one is due. */
export const scheduledOutbox: Outbox<ClaimedMail> = {
  ...outbox,
  minIntervalMs: 5, // at most 200 mails a second, which leaves most of the process to the API
  claim: async (db, options) =>
    (await claimMails(db, options, true)) ?? ((await enqueueDueMails(db, options.nowMs)) ? [] : undefined),
};

/** Queues mails that a date has made due, and returns whether there were any. */
async function enqueueDueMails(db: Db, nowMs: number): Promise<boolean> {
  let wereAny = false;
  for (const take of [takeTrialMails, takeAppEndMails, takeLicenceEndingMails])
    await transact(db, async (transaction) => {
      for (const { mail, about, untilMs } of await take(transaction, nowMs)) {
        await enqueueMail(transaction, mail, { id: deriveMailId(about), nowMs, untilMs });
        wereAny = true;
      }
    });
  return wereAny;
}

const tryInviting = (email: string) =>
  createClerkInvitation(email).then(
    () => undefined,
    ({ message }: Error) => new SendError(message, { mayRetry: true }),
  );

type Address<Queued> = (db: Db, mail: Queued, nowMs: number) => Promise<WantedMail | undefined>;

/** What each kind of mail needs to be wanted still (an invitation may have been used, and a trial extended), and its text. */
const kinds: { [Kind in QueuedMail["kind"]]: Address<QueuedMail & { kind: Kind }> } = {
  code: wantedIf(hasOwner, signIn.codeMail),
  passkey: wantedIf(hasOwner, signIn.passkeyMail),
  "new browser": wantedIf(hasOwner, signIn.newBrowserMail),
  "new app": wantedIf(hasOwner, newAppMail),
  "replayed app": wantedIf(hasOwner, replayedAppMail),
  "app in turn": wantedIf(hasOwner, appInTurnMail),
  "browser in turn": wantedIf(hasOwner, signIn.browserInTurnMail),
  "clerk invitation": async (db, { to }, nowMs) =>
    (await hasOpenInvitation(db, to, nowMs)) ? { to, send: () => tryInviting(to) } : undefined,
  invitation: wantedIf(
    async (db, { token }, nowMs) => !(await findInvitationProblem(db, token, nowMs)),
    (mail) => signIn.invitationMail({ ...mail, url: mailedInvitationUrl(mail.token) }),
  ),
  waitlist: wantedIf(replaceConfirmation, ({ token }) =>
    signIn.confirmationMail({ url: confirmationUrl(token) }),
  ),
  "account deletion": wantedIf(isLeaving, accountDeletionMail),
  "email change": about(addressEmailChange, emailChangeMail),
  "email changed": wantedIf(async () => true, emailChangedMail),
  farewell: wantedIf(async () => true, farewellMail),
  "trial ending": about(addressTrialMail, trialEndingMail),
  "trial ended": about(addressTrialMail, trialEndedMail),
  "app ending": about(addressAppEndMail, appEndMail),
  "payment failed": about(addressPaymentFailed, paymentFailedMail),
  "licence ending": about(addressLicenceEnding, licenceEndingMail),
  "licence ended": about(addressLicenceEnded, licenceEndedMail),
  "low credits": about(addressLowCredits, lowCreditsMail),
  "automatic purchase stopped": about(addressStopped, automaticPurchaseStoppedMail),
};

function about<Queued, Wanted extends { to: string }>(
  find: (db: Db, mail: Queued, nowMs: number) => Promise<Wanted | undefined>,
  write: (mail: Wanted) => MailContent,
): Address<Queued> {
  return async (...asked) => {
    const wanted = await find(...asked);
    return wanted && { to: wanted.to, render: () => renderMail(write(wanted)) };
  };
}

function wantedIf<Queued extends { to: string }>(
  isWanted: (db: Db, mail: NoInfer<Queued>, nowMs: number) => Promise<boolean>,
  write: (mail: NoInfer<Queued>) => MailContent,
): Address<Queued> {
  return about(async (db, mail, nowMs) => ((await isWanted(db, mail, nowMs)) ? mail : undefined), write);
}

/** Whether someone can sign in to an account with this email. */
function hasOwner(db: Db, { to }: { to: string }): Promise<boolean> {
  return hasRow(accountBy(db, "email", to).select("id").where("subject", "is not", null));
}

/** To an owner who still wants to hear of it. */
async function addressLowCredits(db: Db, mail: Extract<QueuedMail, { kind: "low credits" }>) {
  const owner = await accountBy(db, "id", mail.accountId)
    .innerJoin("credit_limits", "account_id", "id")
    .select("email as to")
    .where("subject", "is not", null)
    .where("mail_below_thousandths", "is not", null)
    .executeTakeFirst();
  return owner && { ...mail, ...owner };
}

/** To an owner who has not turned it on again. */
async function addressStopped(db: Db, mail: Extract<QueuedMail, { kind: "automatic purchase stopped" }>) {
  const owner = await accountBy(db, "id", mail.accountId)
    .innerJoin("credit_limits", "account_id", "id")
    .select("email as to")
    .where("subject", "is not", null)
    .where("top_up_stopped", "=", mail.why)
    .executeTakeFirst();
  return owner && { ...mail, ...owner };
}

/** While the request waits, with whether its mailbox has given its word already, or the new email has an account. */
async function addressEmailChange(
  db: Db,
  mail: Extract<QueuedMail, { kind: "email change" }>,
  nowMs: number,
) {
  const change = await findEmailChange(db, mail.id);
  if (!change || !isWaiting(change, nowMs)) return undefined;
  const isTaken = mail.side === "to" && (await hasRow(accountBy(db, "email", mail.to).select("id")));
  return { ...mail, isTaken, isConfirmed: change[`${mail.side}_confirmed_at_ms`] !== null };
}

function isLeaving(db: Db, { to, deletesAtMs }: { to: string; deletesAtMs: number }): Promise<boolean> {
  return hasRow(accountBy(db, "email", to).select("id").where("deletes_at_ms", "=", deletesAtMs));
}
