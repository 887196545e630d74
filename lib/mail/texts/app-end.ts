import { sessionDays } from "@/lib/config/session-lifetimes";
import { ownerPages } from "@/lib/http/pages";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";

type EndingApp = { name: string; origin: string | null; endsAtMs: number };

/** The mail before the last date of apps. Its link is the page of apps: a mail carries no secret that keeps them. */
export function appEndMail({ apps }: { apps: EndingApp[] }): MailContent {
  const isOne = apps.length === 1;
  return {
    subject: `${isOne ? "An app loses" : `${apps.length} apps lose`} access to your account soon`,
    preview: `Keep ${isOne ? "it" : "them"} with one button on your access page, or do nothing.`,
    body: [
      ...apps.map(
        ({ name, origin, endsAtMs }) =>
          `“${name}”, as the app calls itself, loses access to your account on ${formatInstant(endsAtMs)}.${origin ? ` We verified that it is: ${origin}.` : ""}`,
      ),
      `To keep your apps, open your access page and press “Keep all for another ${sessionDays.app} days”. If you do nothing, ${isOne ? "this one is" : "these are"} disconnected then, and you can connect ${isOne ? "it" : "them"} again at any time.`,
      linkTo(ownerPages.access),
    ],
    footer: [
      `You received this email because you connected ${isOne ? "this app" : "these apps"}. You can switch these emails off on your access page, below the list of connected apps.`,
    ],
  };
}
