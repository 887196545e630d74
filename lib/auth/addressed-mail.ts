import { findInvitationProblem, hasOpenInvitation, mailedInvitationUrl } from "@/lib/auth/invitation-token";
import { confirmationUrl, takeConfirmation } from "@/lib/auth/waitlist-confirmation";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { addressAppEndMail } from "@/lib/mail/app-end-mails";
import { addressLicenceEnded, addressLicenceEnding, addressPaymentFailed } from "@/lib/mail/licence-mails";
import type { Mail } from "@/lib/mail/mail";
import { type MailContent, renderMail } from "@/lib/mail/mail-content";
import type { QueuedMail } from "@/lib/mail/outbox";
import { accountDeletionMail } from "@/lib/mail/texts/account-deletion";
import { appEndMail } from "@/lib/mail/texts/app-end";
import { licenceEndedMail, licenceEndingMail, paymentFailedMail } from "@/lib/mail/texts/licence";
import {
  codeMail,
  confirmationMail,
  invitationMail,
  newAppMail,
  newBrowserMail,
  passkeyMail,
  replayedAppMail,
} from "@/lib/mail/texts/sign-in";
import { trialEndedMail, trialEndingMail } from "@/lib/mail/texts/trial";
import { addressTrialMail } from "@/lib/mail/trial-mails";

/** A mail that is still wanted: its recipient, and its text, which Clerk writes itself for its own. */
type AddressedMail = { to: string; render: (() => Omit<Mail, "id" | "to">) | undefined };

type Address<Queued> = (db: Db, mail: Queued, nowMs: number) => Promise<AddressedMail | undefined>;

/** What each kind of mail needs to be wanted still (an invitation may have been used, and a trial extended), and its text. */
const kinds: { [Kind in QueuedMail["kind"]]: Address<QueuedMail & { kind: Kind }> } = {
  code: wantedIf(hasOwner, codeMail),
  passkey: wantedIf(hasOwner, passkeyMail),
  "new browser": wantedIf(hasOwner, newBrowserMail),
  "new app": wantedIf(hasOwner, newAppMail),
  "replayed app": wantedIf(hasOwner, replayedAppMail),
  "clerk invitation": wantedIf((db, { to }, nowMs) => hasOpenInvitation(db, to, nowMs), undefined),
  invitation: wantedIf(
    async (db, { token }, nowMs) => !(await findInvitationProblem(db, token, nowMs)),
    (mail) => invitationMail({ ...mail, url: mailedInvitationUrl(mail.token) }),
  ),
  waitlist: wantedIf(takeConfirmation, ({ token }) => confirmationMail({ url: confirmationUrl(token) })),
  "account deletion": wantedIf(isLeaving, accountDeletionMail),
  "trial ending": about(addressTrialMail, trialEndingMail),
  "trial ended": about(addressTrialMail, trialEndedMail),
  "app ending": about(addressAppEndMail, appEndMail),
  "payment failed": about(addressPaymentFailed, paymentFailedMail),
  "licence ending": about(addressLicenceEnding, licenceEndingMail),
  "licence ended": about(addressLicenceEnded, licenceEndedMail),
};

/** Addresses a mail, unless it is no longer wanted. */
export function addressMail(db: Db, mail: QueuedMail, nowMs: number): Promise<AddressedMail | undefined> {
  return (kinds[mail.kind] as Address<QueuedMail>)(db, mail, nowMs);
}

function about<Queued, Wanted extends { to: string }>(
  find: (db: Db, mail: Queued, nowMs: number) => Promise<Wanted | undefined>,
  write: ((mail: Wanted) => MailContent) | undefined,
): Address<Queued> {
  return async (...asked) => {
    const wanted = await find(...asked);
    return wanted && { to: wanted.to, render: write && (() => renderMail(write(wanted))) };
  };
}

function wantedIf<Queued extends { to: string }>(
  isWanted: (db: Db, mail: NoInfer<Queued>, nowMs: number) => Promise<boolean>,
  write: ((mail: NoInfer<Queued>) => MailContent) | undefined,
): Address<Queued> {
  return about(async (db, mail, nowMs) => ((await isWanted(db, mail, nowMs)) ? mail : undefined), write);
}

/** Whether someone can sign in to an account with this email. */
function hasOwner(db: Db, { to }: { to: string }): Promise<boolean> {
  return hasRow(accountBy(db, "email", to).select("id").where("subject", "is not", null));
}

function isLeaving(db: Db, { to, deletesAtMs }: { to: string; deletesAtMs: number }): Promise<boolean> {
  return hasRow(accountBy(db, "email", to).select("id").where("deletes_at_ms", "=", deletesAtMs));
}
