import { type AccountEnd, endEffects, endWords } from "@/lib/http/entitlement-words";
import { ownerPages } from "@/lib/http/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";

/** What an account has once its licence has ended: nothing, the hobby plan, or the rest of its trial. */
export type AfterLicence = "nothing" | "hobby" | "trial";

const goesOn: Record<Exclude<AfterLicence, "nothing">, string> = {
  hobby: "Your company goes on with the free hobby plan, with fewer assistants.",
  trial: "Your company goes on with the rest of your trial.",
};

/** The mail when a payment for a licence has failed, while Stripe still tries to collect it. */
export function paymentFailedMail({ stopsAtMs }: { stopsAtMs: number }): MailContent {
  const stop = formatInstant(stopsAtMs);
  return {
    subject: "Your payment failed",
    preview: `If the card keeps failing, your company stops on ${stop}.`,
    body: [
      "The payment for your licence failed.",
      `If the card keeps failing, your company stops on ${stop}. Until then your assistants go on working.`,
      "To keep it running, open “Manage billing” on your billing page, and pay the invoice or change the card there. If you have done so already, you have nothing to do.",
      linkTo(ownerPages.billing),
    ],
  };
}

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
      end.isUnpaid
        ? "Your payment failed. Your licence goes on as soon as the last invoice is paid: open “Manage billing” on your billing page."
        : "You can choose a licence again on your billing page at any time.",
      linkTo(ownerPages.billing),
    ],
  };
}
