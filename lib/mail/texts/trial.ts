import { settings } from "@/lib/config/settings";
import { ownerPages } from "@/lib/http/register/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";
import { endEffects, endWords } from "@/lib/plans/entitlement-words";

/** The mail three days before the end of a trial. It names the end and no distance, because it may be sent later. */
export function trialEndingMail({ endsAtMs }: { endsAtMs: number }): MailContent {
  const end = formatInstant(endsAtMs);
  return {
    subject: `Your trial ends on ${end}`,
    heading: "Your trial ends soon",
    preview: "This is what stops then, and what to do before.",
    body: [
      `Your trial ends on ${end}.`,
      `${endEffects.soon} ${endEffects.nothingLost}`,
      `To keep your company running, choose a plan before then. ${howToChoose()}`,
      linkTo(whereToChoose()),
    ],
  };
}

/** The mail at the end of a trial. */
export function trialEndedMail({ endsAtMs }: { endsAtMs: number }): MailContent {
  return {
    subject: endWords({ what: "trial" }).heading,
    preview: "Your assistants pause, and nothing is lost.",
    body: [
      `Your trial ended on ${formatInstant(endsAtMs)}.`,
      `${endEffects.now} ${endEffects.nothingLost}`,
      `Your assistants can run again as soon as you have a plan. ${howToChoose()}`,
      linkTo(whereToChoose()),
    ],
  };
}

const whereToChoose = () => (settings().billing ? ownerPages.billing : ownerPages.home);

function howToChoose(): string {
  const { supportEmail, billing } = settings();
  if (billing) return "You can buy one on your billing page.";
  return supportEmail
    ? `Just reply, or write to ${supportEmail}.`
    : "Ask the person who invited you for one.";
}
