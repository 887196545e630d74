import { ownerPages } from "@/lib/http/register/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";
import { type AccountEnd, endEffects, endWords, type LicenceEnd } from "@/lib/plans/entitlement-words";

/** What an account has once its licence has ended: nothing, the hobby plan, or the rest of its trial. */
export type AfterLicence = "nothing" | "hobby" | "trial";

const goesOn: Record<Exclude<AfterLicence, "nothing">, string> = {
  hobby: "Your company goes on with the free hobby plan, with fewer assistants.",
  trial: "Your company goes on with the rest of your trial.",
};

/** `due`: what is to be paid, as “€49.00”, and `planTitle`, the plan's title, as far as they are known. */
type FailedPayment = {
  stopsAtMs: number;
  status_reason: string | null;
  due: string | undefined;
  planTitle: string | undefined;
};

/** The mail when a payment for a licence has failed, while Stripe still tries to collect it. */
export function paymentFailedMail(mail: FailedPayment): MailContent {
  const stop = formatInstant(mail.stopsAtMs);
  const { subject, what, ifNot, press } = failures[mail.status_reason ?? ""] ?? failedRenewal;
  const ofSum = mail.due ? ` of ${mail.due}` : "";
  const plan = mail.planTitle ? `“${mail.planTitle}”` : "your licence";
  return {
    subject,
    preview: `${mail.due ? `${mail.due} is due. ` : ""}${ifNot}, your company stops on ${stop}.`,
    body: [
      what(ofSum, plan),
      `${ifNot}, your company stops on ${stop}. Until then your assistants go on working.`,
      `To keep it running, press “${press}”, and on the page that opens “Manage billing”: pay the invoice or change the card there. If you have done so already, you have nothing to do.`,
      { label: press, url: linkTo(ownerPages.billing).url },
    ],
  };
}

const failedRenewal = {
  subject: "Your payment failed",
  what: (ofSum: string, plan: string) => `The payment${ofSum} for ${plan} failed.`,
  ifNot: "If the card keeps failing",
  press: "Update payment",
};

/** By the reason for which a subscription is past due. */
const failures: Record<string, typeof failedRenewal> = {
  change: {
    ...failedRenewal,
    subject: "The payment for your change failed",
    what: (ofSum) =>
      `The payment${ofSum} for the change of your licence failed, so you have what you had before.`,
    ifNot: "If the change stays unpaid",
  },
  invoice: {
    ...failedRenewal,
    subject: "Your invoice is overdue",
    what: (ofSum, plan) => `The invoice${ofSum} for ${plan} is overdue.`,
    ifNot: "If it stays unpaid",
  },
  trial: {
    subject: "The free trial of your licence has ended",
    what: (ofSum, plan) =>
      `The free trial of ${plan} has ended, and no card has paid the first invoice${ofSum}.`,
    ifNot: "If no card pays it",
    press: "Add a card",
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
