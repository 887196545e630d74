import type { ReactNode } from "react";
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
    "It reads whether your company may run, and your credits. It can’t send, publish, deploy or charge, and you end its access with one click.",
  "What happens after the trial?": settings().billing
    ? "Your assistants pause, and nothing is lost or charged. Choose a licence, and they go on."
    : `Your assistants pause, and nothing is lost or charged. For a plan, ${askUs()}.`,
  "How do I leave?":
    settings().signIn.kind === "local"
      ? "Delete your account on its page, without asking anyone. It is erased a day later, and a running licence is cancelled first."
      : `To have your account erased, ${askUs()}. Emails stop with one click.`,
});

/** Four questions that people have before they leave an address. */
export function Questions() {
  return (
    <section aria-labelledby="questions">
      <h2 id="questions">Four questions</h2>
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
