import { handlePage } from "@/lib/http/page";
import { pages } from "@/lib/http/register/pages";
import { whatGoesOn } from "@/lib/mail/mail-content";
import { readSubscription, readUnsubscribeLink, unsubscribe } from "@/lib/mail/unsubscribe";
import { explainBy, narrow, type PageContent } from "../html-page";
import { Reference } from "../problem";

const stays = `${whatGoesOn()}.`;

/** A GET changes nothing: link scanners open every link. A POST comes from the button, or is a one-click request. */
export const { GET, POST } = handlePage(
  pages.unsubscribe,
  {
    ...narrow,
    identify: readUnsubscribeLink,
    explain: explainBy(({ code, status, headers }, { requestId }) => {
      if (code === "invalid_token") {
        const says = "The link is incomplete or was changed. Open it from the email, exactly as it was sent.";
        return show("This link does not work", [says], { status });
      }
      const says = "It is not certain that the emails are stopped. Press the button again in a moment.";
      const more = { status, button: "Try again", reference: requestId };
      return { ...show("That did not work yet", [says], more), headers: Object.entries(headers).flat() };
    }),
  },
  async (call, accountId: string) => {
    if (call.method === "POST") {
      await unsubscribe(accountId, "unsubscribe link", call);
      return show("The onboarding emails are stopped", [
        "We will not send you any more of them. You can close this page.",
        stays,
        "Your account stays as it is.",
      ]);
    }
    const { email, isStopped } = await readSubscription(accountId);
    if (isStopped) {
      const paragraphs = ["You have nothing to do. You can close this page.", stays];
      return show("The onboarding emails are already stopped", paragraphs, { email });
    }
    const paragraphs = ["We will not send you the other emails that introduce Corner Office.", stays];
    return show("Stop the onboarding emails?", paragraphs, { email, button: "Stop these emails" });
  },
);

type More = { status?: number; email?: string | undefined; button?: string; reference?: string };

/** The form has no action, so it posts to the page itself. */
function show(title: string, paragraphs: string[], more: More = {}): PageContent {
  const { status = 200, email, button, reference } = more;
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
        {reference && (
          <p className="quiet">
            <Reference id={reference} />
          </p>
        )}
      </>
    ),
  };
}
