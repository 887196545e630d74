import type { ReactNode } from "react";
import { creditUse } from "@/lib/accounts/credits/credit-use";
import { askUs } from "@/lib/config/contact";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";

const questions = (): Record<string, ReactNode> => ({
  "Who sees my work?": (
    <>
      Not us. Your assistants and their work stay in your own apps. We keep your email, your plan and your
      credits. <a href={settings().privacyUrl ?? pages.privacy.path}>All that we keep</a>
    </>
  ),
  "What can an app do here?":
    "It reads your plan and your credits. It can’t send, publish, deploy or charge.",
  "What are credits?": `${creditUse()} Without enough of them, only jobs that cost some are refused.`,
  "What happens after the trial?": settings().billing
    ? "Your assistants pause, and nothing is lost or charged. With a plan they go on."
    : `Your assistants pause, and nothing is lost or charged. For a plan, ${askUs()}.`,
  "How do I leave?":
    settings().signIn.kind === "local"
      ? "Delete your account on its page, without asking anyone. It is erased a day later, and a running plan is cancelled first."
      : `To have your account erased, ${askUs()}. Emails stop with one click.`,
});

/** What people ask before they leave an address. */
export function Questions() {
  return (
    <section aria-labelledby="questions">
      <h2 id="questions">Questions</h2>
      <div className="questions">
        {Object.entries(questions()).map(([question, answer]) => (
          <div key={question}>
            <h3>{question}</h3>
            <p>{answer}</p>
          </div>
        ))}
      </div>
    </section>
  );
}
