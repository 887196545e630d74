import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { askUs } from "@/lib/config/contact";
import { pages } from "@/lib/http/register/pages";
import type { Standing } from "@/lib/plans/standing";
import type { Access } from "./access/read-access";
import { Tick } from "./tick";

const watchedEverySeconds = 15;

type Step = {
  isDone: boolean;
  title: string;
  how?: ReactNode;
  /** Whether it is said how also while another step is the next: it takes somebody else. */
  isSaidEarly?: boolean;
};

const planStep = ({ step }: Standing): Step => ({
  isDone: false,
  title: "Get a plan before the trial ends",
  isSaidEarly: !step,
  how: step ? <a href={step.path}>{step.words}</a> : `For a plan, ${askUs()}.`,
});

/** The first steps of a new account. Each is ticked from facts that this service knows, never by hand. */
export function firstSteps({ plan }: Account, { sessions }: Access, state: Standing): Step[] {
  const apps = sessions.filter(({ kind }) => kind === "app");
  return [
    { isDone: true, title: "Sign in" },
    {
      isDone: apps.length > 0,
      title: "Connect an app",
      how: (
        <>
          <a href={`${pages.access.path}#connect-something`}>Choose one</a>: Claude, ChatGPT, Codex, Cursor or
          VS Code.
        </>
      ),
    },
    {
      // An agent connects, and so is seen, long before it is asked.
      isDone: apps.some(({ checked_at_ms }) => checked_at_ms !== null),
      title: "Your app starts working",
      how: "By itself once it is connected; an agent, when you ask it.",
    },
    ...(plan === "trial" ? [planStep(state)] : []),
  ];
}

/** The first steps of an account, and how the next one is done. While one is open, the page looks for it more often. */
export function FirstDays({ steps, children }: { steps: Step[]; children: ReactNode }) {
  const done = steps.filter(({ isDone }) => isDone).length;
  const waits = steps.slice(0, 3).some(({ isDone }) => !isDone);
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <section
      className="card"
      aria-labelledby="first-days"
      data-checks-after={waits ? watchedEverySeconds : undefined}
    >
      <h2 id="first-days">First steps</h2>
      <p className="quiet" role="status">
        {done} of {steps.length} done
      </p>
      <ol className="first-days">
        {steps.map((step) => {
          const { isDone, title, how, isSaidEarly } = step;
          return (
            <li key={title} data-is-done={isDone} aria-current={step === next ? "step" : undefined}>
              <Tick isDone={isDone} />
              <div>
                <strong>{title}</strong>
                <span className="unseen">{isDone ? ": done." : ": not done yet."}</span>
                {(step === next || isSaidEarly) && <p>{how}</p>}
              </div>
            </li>
          );
        })}
      </ol>
      {children}
    </section>
  );
}
