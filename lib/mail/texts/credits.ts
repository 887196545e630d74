import { ownerPages } from "@/lib/http/register/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";

/** The mail when credits have fallen below what their owner wants to hear of. Amounts are in thousandths. */
export function lowCreditsMail(mail: { below: number; left: number; atMs: number }): MailContent {
  const [below, left] = [inCredits(mail.below), inCredits(mail.left)];
  return {
    subject: `You have fewer than ${below} credits`,
    preview: `${left} were left.`,
    body: [
      `On ${formatInstant(mail.atMs)} your credits fell below ${below}: ${left} were left.`,
      "Work that costs more than you have is refused until you have more. Whether your company may run does not depend on it.",
      linkTo(ownerPages.billing),
    ],
    footer: [
      "You received this email because you asked for it on your billing page. It comes once each time your credits fall below what you set there, and there you can stop it.",
    ],
  };
}

const inCredits = (thousandths: number) => (thousandths / 1000).toLocaleString("en");
