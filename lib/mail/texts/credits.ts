import { ownerPages } from "@/lib/http/register/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";
import type { StopReason } from "@/lib/mail/outbox";

/** The mail when credits have fallen below what their owner wants to hear of. Amounts are in thousandths. */
export function lowCreditsMail(mail: { below: number; left: number; atMs: number }): MailContent {
  const [below, left] = [inCredits(mail.below), inCredits(mail.left)];
  return {
    subject: `You have fewer than ${below} credits`,
    preview: `${left} were left.`,
    body: [
      `On ${formatInstant(mail.atMs)} your credits fell below ${below}: ${left} were left.`,
      "Work that costs more than you have is refused until you have more. Your company keeps running either way.",
      linkTo(ownerPages.billing),
    ],
    footer: [
      "You received this email because you asked for it on your billing page. It comes once each time your credits fall below what you set there, and there you can stop it.",
    ],
  };
}

const inCredits = (thousandths: number) => (thousandths / 1000).toLocaleString("en");

/** Why automatic purchases are off, for the mail and the page. */
export const whyStopped: Record<StopReason, string> = {
  declined: "Your card was declined, and you were not charged.",
  confirmation:
    "Your bank wants you to confirm each payment, which cannot be done while you are away. You were not charged.",
  "no card": "There is no card that can be charged while you are away.",
  returned: "A payment for credits was returned or disputed.",
  refused: "Stripe did not take the payment, and you were not charged.",
};

/** The mail when automatic purchases of credits were turned off because one failed. */
export function automaticPurchaseStoppedMail({ why }: { why: StopReason }): MailContent {
  return {
    subject: "Credits are not bought automatically any more",
    preview: whyStopped[why],
    body: [
      `${whyStopped[why]} So nothing is bought automatically any more, and no further payment is tried.`,
      "Work that costs more credits than you have is refused. On your billing page you can buy credits yourself, change your card under “Manage billing”, and turn automatic purchases on again.",
      linkTo(ownerPages.billing),
    ],
  };
}
