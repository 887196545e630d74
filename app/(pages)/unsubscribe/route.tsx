import { pages } from "@/lib/http/pages";
import { readSubscription, readUnsubscribeLink, unsubscribe } from "@/lib/mail/unsubscribe";
import { narrowPage, type PageContent } from "../html-page";

/** A GET changes nothing: link scanners open every link. A POST comes from the button, or is a one-click request. */
const unsubscribePage = narrowPage(
  pages.unsubscribe,
  async ({ url, context: { method, requestId } }) => {
    if (method === "POST") {
      await unsubscribe(url, requestId);
      return show(words.stopped);
    }
    const { email, isStopped } = await readSubscription(await readUnsubscribeLink(url));
    return show(isStopped ? words.alreadyStopped : words.ask, { email });
  },
  ({ code, status }) => show(code === "invalid_token" ? words.badLink : words.failed, { status }),
);

export { unsubscribePage as GET, unsubscribePage as POST };

/** The page's text, and its button if there is something to confirm. */
type Words = { title: string; paragraphs: string[]; button?: string };

const whatGoesOn = "Emails about sign-in, security and the state of your account go on.";

const words = {
  ask: {
    title: "Stop the onboarding emails?",
    paragraphs: ["We will not send you the other emails that introduce Corner Office.", whatGoesOn],
    button: "Stop these emails",
  },
  alreadyStopped: {
    title: "The onboarding emails are already stopped",
    paragraphs: ["You have nothing to do. You can close this page.", whatGoesOn],
  },
  stopped: {
    title: "The onboarding emails are stopped",
    paragraphs: [
      "We will not send you any more of them. You can close this page.",
      whatGoesOn,
      "Your account stays as it is.",
    ],
  },
  badLink: {
    title: "This link does not work",
    paragraphs: ["The link is incomplete or was changed. Open it from the email, exactly as it was sent."],
  },
  failed: {
    title: "That did not work yet",
    paragraphs: ["It is not certain that the emails are stopped. Press the button again in a moment."],
    button: "Try again",
  },
} as const satisfies Record<string, Words>;

type About = { status?: number; email?: string | undefined };

/** Renders the page with this text. Its form has no action, so it posts to the page itself. */
function show({ title, paragraphs, button }: Words, { status = 200, email }: About = {}): PageContent {
  return {
    title,
    status,
    content: (
      <>
        {email && (
          <p>
            For <strong>{email}</strong>
          </p>
        )}
        {paragraphs.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
        {button && (
          <form method="post">
            <button type="submit">{button}</button>
          </form>
        )}
      </>
    ),
  };
}
