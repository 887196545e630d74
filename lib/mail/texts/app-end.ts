import { ownerPages } from "@/lib/http/pages";
import type { Mail } from "@/lib/mail/mail";
import { inWords, linkTo, transactionalMail } from "@/lib/mail/mail-content";

type AppEndMail = { to: string; name: string; origin: string | null; endsAtMs: number };

/** The mail a day before the access of an app ends. Its link is the page of apps: a mail carries no secret that extends. */
export function appEndMail({ to, name, origin, endsAtMs }: AppEndMail): Omit<Mail, "id"> {
  return transactionalMail(to, {
    subject: "An app loses access to your account tomorrow",
    preview: "Give it another week on your access page, or let it end.",
    body: [
      `“${name}”, as the app calls itself, loses access to your account on ${inWords(endsAtMs)}.${origin ? ` We verified that it is: ${origin}.` : ""}`,
      "To keep it connected, open your access page and press “Give it another week” next to the app. If you do nothing, it is disconnected, and you can connect it again at any time.",
      linkTo(ownerPages.access),
    ],
    footer: [
      "You received this email because you connected this app and used it in the last three days. You can switch these emails off on your access page, below the list of connected apps.",
    ],
  });
}
