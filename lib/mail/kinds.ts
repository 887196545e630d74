import type { MailKind } from "@/lib/mail/kind";
import { deletionMails } from "@/lib/mail/kinds/account-deletion";
import { appMails } from "@/lib/mail/kinds/apps";
import { creditMails } from "@/lib/mail/kinds/credits";
import { emailChangeMails } from "@/lib/mail/kinds/email-change";
import { invitationMails } from "@/lib/mail/kinds/invitation";
import { licenceMails } from "@/lib/mail/kinds/licence";
import { type OnboardingKind, onboardingMails } from "@/lib/mail/kinds/onboarding";
import { signInMails } from "@/lib/mail/kinds/sign-in";
import { trialMails } from "@/lib/mail/kinds/trial";

/** Every kind of mail, by the name that is stored with it. */
const all = {
  ...signInMails,
  ...invitationMails,
  ...appMails,
  ...deletionMails,
  ...emailChangeMails,
  ...trialMails,
  ...licenceMails,
  ...creditMails,
  ...onboardingMails,
};

type All = typeof all;

/** A mail of any kind. */
type AnyMail = {
  [Name in keyof All]: { kind: Name } & (All[Name] extends MailKind<infer Queued> ? Queued : never);
}[keyof All];

/**
 * A mail of the outbox, in which those of the onboarding series are not. One without `to` belongs to a row, and goes to the
 * address that its owner has when it is sent.
 */
export type QueuedMail = Exclude<AnyMail, { kind: OnboardingKind }>;

/** What this build knows of them, by name. */
export const mailKinds: ReadonlyMap<string, MailKind<AnyMail>> = new Map(Object.entries(all as object));

const namesOf = (isOne: (kind: MailKind<AnyMail>) => boolean) =>
  [...mailKinds].flatMap(([name, kind]) => (isOne(kind) ? [name] : []));

/** The kinds that this build can send, apart for the three loops of the runner. */
export const kindNames = {
  scheduled: namesOf(({ isScheduled }) => isScheduled === true),
  onboarding: namesOf(({ afterDays }) => afterDays !== undefined),
  others: namesOf(({ isScheduled, afterDays }) => !isScheduled && afterDays === undefined),
};
