import { ownerPages } from "@/lib/http/register/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";
import { type AccountEnd, endEffects, endWords, type LicenceEnd } from "@/lib/plans/entitlement-words";

/** What an account has once its licence has ended: nothing, the hobby plan, or the rest of its trial. */
export type AfterLicence = "nothing" | "hobby" | "trial";

const goesOn: Record<Exclude<AfterLicence, "nothing">, string> = {
  hobby: "Your company goes on with the free hobby plan, with fewer assistants.",
  trial: "Your company goes on with the rest of your trial.",
};

type FailedPayment = { stopsAtMs: number; status_reason: string | null };

/** The mail when a payment for a licence has failed, while Stripe still tries to collect it. */
export function paymentFailedMail({ stopsAtMs, status_reason }: FailedPayment): MailContent {
  const stop = formatInstant(stopsAtMs);
  const { subject, what, ifNot } = failures[status_reason ?? ""] ?? failedRenewal;
  return {
    subject,
    preview: `${ifNot}, your company stops on ${stop}.`,
    body: [
      what,
      `${ifNot}, your company stops on ${stop}. Until then your assistants go on working.`,
      "To keep it running, open “Manage billing” on your billing page, and pay the invoice or change the card there. If you have done so already, you have nothing to do.",
      linkTo(ownerPages.billing),
    ],
  };
}

const failedRenewal = {
  subject: "Your payment failed",
  what: "The payment for your licence failed.",
  ifNot: "If the card keeps failing",
};

/** By the reason for which a subscription is past due. */
const failures: Record<string, typeof failedRenewal> = {
  change: {
    subject: "The payment for your change failed",
    what: "The payment for the change of your licence failed, so you have what you had before.",
    ifNot: "If the change stays unpaid",
  },
  invoice: {
    subject: "Your invoice is overdue",
    what: "The invoice for your licence is overdue.",
    ifNot: "If it stays unpaid",
  },
  trial: {
    subject: "The free trial of your licence has ended",
    what: "The free trial of your licence has ended, and no card has paid what follows.",
    ifNot: "If no card pays it",
  },
};

type EndingLicence = { endsAtMs: number; after: AfterLicence };

/** The mail three days before a cancelled licence ends. It names the end and no distance, because it may be sent later. */
export function licenceEndingMail({ endsAtMs, after }: EndingLicence): MailContent {
  const end = formatInstant(endsAtMs);
  return {
    subject: `Your licence ends on ${end}`,
    heading: "Your licence ends soon",
    preview: "This is what changes then, and how to keep it.",
    body: [
      `Your licence is cancelled, and ends on ${end}.`,
      `${after === "nothing" ? endEffects.soon : goesOn[after]} ${endEffects.nothingLost}`,
      "To keep the licence, open “Manage billing” on your billing page, and take the cancellation back there.",
      linkTo(ownerPages.billing),
    ],
  };
}

type EndedLicence = { end: Extract<AccountEnd, { what: "licence" }>; after: AfterLicence };

/** The mail at the end of a licence. */
export function licenceEndedMail({ end, after }: EndedLicence): MailContent {
  return {
    subject: endWords(end).heading,
    preview: after === "nothing" ? "Your assistants pause, and nothing is lost." : goesOn[after],
    body: [
      `Your licence ended on ${formatInstant(end.atMs)}.`,
      `${after === "nothing" ? endEffects.now : goesOn[after]} ${endEffects.nothingLost}`,
      whatNext[end.how],
      linkTo(ownerPages.billing),
    ],
  };
}

const again = "You can choose a licence again on your billing page at any time.";

/** What to do after a licence, by how it ended. */
const whatNext: Record<LicenceEnd, string> = {
  ended: again,
  unfinished: again,
  "trial over": "You were not charged. You can choose a licence on your billing page at any time.",
  unpaid:
    "Your payment failed. Your licence goes on as soon as the last invoice is paid: open “Manage billing” on your billing page.",
  returned:
    "Your payment was returned to you, but Stripe still runs the licence and will charge it again when it renews. On your billing page you can end it, or buy it again.",
  paused: "The licence is paused. Your billing page says how to go on with it, or to choose another.",
};
