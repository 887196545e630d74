import { findInvitationProblem, hasOpenInvitation, mailedInvitationUrl } from "@/lib/auth/invitation-token";
import { confirmationUrl, takeConfirmation } from "@/lib/auth/waitlist-confirmation";
import type { Db } from "@/lib/db/store";
import { addressAppEndMail } from "@/lib/mail/app-end-mails";
import { addressLicenceEnded, addressLicenceEnding, addressPaymentFailed } from "@/lib/mail/licence-mails";
import type { Mail } from "@/lib/mail/mail";
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

/** A mail with its recipient and what its text names. */
type AddressedMail = NonNullable<Awaited<ReturnType<typeof addressMail>>>;

/** Addresses a mail, unless it is no longer wanted: an invitation may have been used, and a trial extended. */
export async function addressMail(db: Db, mail: QueuedMail, nowMs: number) {
  switch (mail.kind) {
    case "trial ending":
    case "trial ended":
      return addressTrialMail(db, mail);
    case "app ending":
      return addressAppEndMail(db, mail, nowMs);
    case "payment failed":
      return addressPaymentFailed(db, mail, nowMs);
    case "licence ending":
      return addressLicenceEnding(db, mail);
    case "licence ended":
      return addressLicenceEnded(db, mail, nowMs);
    case "clerk invitation":
      return (await hasOpenInvitation(db, mail.to, nowMs)) ? mail : undefined;
    case "invitation":
      return (await findInvitationProblem(db, mail.token, nowMs)) ? undefined : mail;
    case "waitlist":
      return (await takeConfirmation(db, mail, nowMs)) ? mail : undefined;
    case "account deletion":
      return (await isLeaving(db, mail)) ? mail : undefined;
    default:
      return (await hasOwner(db, mail.to)) ? mail : undefined;
  }
}

/** Whether someone can sign in to an account with this email. */
async function hasOwner(db: Db, email: string): Promise<boolean> {
  const account = await db
    .selectFrom("accounts")
    .select("id")
    .where("email", "=", email)
    .where("subject", "is not", null)
    .executeTakeFirst();
  return account !== undefined;
}

/** Whether an account is still to be deleted then. */
async function isLeaving(db: Db, { to, deletesAtMs }: { to: string; deletesAtMs: number }): Promise<boolean> {
  const accounts = db.selectFrom("accounts").select("id").where("email", "=", to);
  return (await accounts.where("deletes_at_ms", "=", deletesAtMs).executeTakeFirst()) !== undefined;
}

/** The text of an addressed mail. Clerk writes its own. */
export function renderMail(mail: Exclude<AddressedMail, { kind: "clerk invitation" }>): Omit<Mail, "id"> {
  switch (mail.kind) {
    case "code":
      return codeMail(mail);
    case "invitation":
      return invitationMail({ ...mail, url: mailedInvitationUrl(mail.token) });
    case "waitlist":
      return confirmationMail({ to: mail.to, url: confirmationUrl(mail.token) });
    case "passkey":
      return passkeyMail(mail);
    case "new browser":
      return newBrowserMail(mail);
    case "new app":
      return newAppMail(mail);
    case "replayed app":
      return replayedAppMail(mail);
    case "account deletion":
      return accountDeletionMail(mail);
    case "trial ending":
      return trialEndingMail(mail);
    case "trial ended":
      return trialEndedMail(mail);
    case "app ending":
      return appEndMail(mail);
    case "payment failed":
      return paymentFailedMail(mail);
    case "licence ending":
      return licenceEndingMail(mail);
    case "licence ended":
      return licenceEndedMail(mail);
  }
}
