import { sessionDays } from "@/lib/config/lifetimes";
import { ownerPages } from "@/lib/http/register/pages";
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
          `“${name}”, as the app calls itself, loses access to your account on ${formatInstant(endsAtMs)}.${origin ? ` ${describeOrigin(origin)}.` : ""}`,
      ),
      `To keep your apps, open your access page and press “Keep all for another ${sessionDays.app} days”. If you do nothing, ${isOne ? "this one is" : "these are"} disconnected then, and you can connect ${isOne ? "it" : "them"} again at any time.`,
      linkTo(ownerPages.access),
    ],
    footer: [
      `You received this email because you connected ${isOne ? "this app" : "these apps"}. You can switch these emails off on your access page, below the list of connected apps.`,
    ],
  };
}

/** A site was verified by its host; of anything else only the kind is known, which is several words. */
const describeOrigin = (origin: string) =>
  origin.includes(" ") ? `Kind: ${origin}; we can’t verify which` : `We verified that it is: ${origin}`;

/** Of an app, what was verified of it is told apart from its name, which is its own words. */
type AppMail = { name: string; atMs: number; origin?: string | null | undefined };

const describeApp = ({ name, origin }: AppMail) => ({
  points: [`It calls itself: “${name}”`, ...(origin ? [describeOrigin(origin)] : [])],
});

/** The mail about an app that the owner has approved. */
export function newAppMail(app: AppMail): MailContent {
  const { name, atMs } = app;
  return {
    subject: "An app was connected to your account",
    preview: `“${name}”, on ${formatInstant(atMs)}`,
    body: [
      `An app was connected to your account on ${formatInstant(atMs)}:`,
      describeApp(app),
      "It can read whether your company may run, and your credits. It can’t approve anything for you.",
      "If you approved it, you have nothing to do.",
      "If you didn’t, end its access on your access page now: someone else may be signed in as you.",
      linkTo(ownerPages.access),
    ],
  };
}

/** The mail about an app whose session ended because one of its tokens was used a second time. */
export function replayedAppMail(app: AppMail): MailContent {
  const { name, atMs } = app;
  return {
    subject: "An app was disconnected: a token may have been copied",
    preview: `“${name}”, on ${formatInstant(atMs)}`,
    body: [
      `An app was disconnected on ${formatInstant(atMs)}: an old token of it was used again, so someone else may have a copy. No copy works now.`,
      describeApp(app),
      "It could read whether your company may run, and your credits. If you still use the app, connect it again. If this happens again, the computer that it runs on may not be yours alone.",
      linkTo(ownerPages.access),
    ],
  };
}

/** The mail about an app whose tokens are renewed from several networks in turn, once for each approval. */
export function appInTurnMail(app: AppMail): MailContent {
  const { name, atMs } = app;
  return {
    subject: "An app is used from several networks in turn",
    preview: `“${name}”, on ${formatInstant(atMs)}`,
    body: [
      `An app got new tokens from several networks in turn, the last time on ${formatInstant(atMs)}:`,
      describeApp(app),
      "That is usual for a phone or a laptop that you carry around, for a VPN, and for an agent in a data centre. You then have nothing to do, and we won’t write about this app again.",
      "If it runs in one place, someone else may have a copy of its token. Your access page shows the networks. End its access there, and connect it again.",
      linkTo(ownerPages.access),
    ],
  };
}
