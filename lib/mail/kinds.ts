import type { MailKind } from "@/lib/mail/kind";
import { deletionMails } from "@/lib/mail/kinds/account-deletion";
import { appMails } from "@/lib/mail/kinds/apps";
import { creditMails } from "@/lib/mail/kinds/credits";
import { emailChangeMails } from "@/lib/mail/kinds/email-change";
import { invitationMails } from "@/lib/mail/kinds/invitation";
import { licenceMails } from "@/lib/mail/kinds/licence";
import { signInMails } from "@/lib/mail/kinds/sign-in";
import { trialMails } from "@/lib/mail/kinds/trial";

/** Every kind of mail but the onboarding series, by the name that is stored with it. */
const all = {
  ...signInMails,
  ...invitationMails,
  ...appMails,
  ...deletionMails,
  ...emailChangeMails,
  ...trialMails,
  ...licenceMails,
  ...creditMails,
};

type All = typeof all;

/** A mail of the outbox. One without `to` belongs to a row, and goes to the address that its owner has when it is sent. */
export type QueuedMail = {
  [Name in keyof All]: { kind: Name } & (All[Name] extends MailKind<infer Queued> ? Queued : never);
}[keyof All];

/** What this build knows of them, by name. */
export const mailKinds: ReadonlyMap<string, MailKind<QueuedMail>> = new Map(Object.entries(all as object));

const names = [...mailKinds.keys()];

/** The kinds that this build can send, apart for the two runners. */
export const kindNames = {
  scheduled: names.filter((name) => mailKinds.get(name)?.isScheduled),
  others: names.filter((name) => !mailKinds.get(name)?.isScheduled),
};
