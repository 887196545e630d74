import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { Session } from "@/lib/auth/sessions/session";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import { Tick } from "./tick";

const firstDaysMs = 14 * dayMs;

type Step = { isDone: boolean; title: string; how: ReactNode };

const planStep = (): Step => ({
  isDone: false,
  title: "Get a plan before the trial ends",
  how: settings().billing ? <a href={pages.billing.path}>Choose a licence</a> : `For a plan, ${askUs()}.`,
});

/** The first steps of a new account. Each is ticked from facts that this service knows, never by hand. */
function stepsOf({ plan }: Account, sessions: readonly Session[]): Step[] {
  const apps = sessions.filter(({ kind }) => kind !== "browser");
  return [
    { isDone: true, title: "Sign in", how: "You are here." },
    {
      isDone: apps.some(({ kind }) => kind === "app"),
      title: "Connect an app",
      how: (
        <>
          <a href={`${pages.access.path}#connect-something`}>Choose</a> Claude, ChatGPT, Codex, Cursor or VS
          Code.
        </>
      ),
    },
    {
      isDone: apps.some(({ last_seen_at_ms }) => last_seen_at_ms !== null),
      title: "Let it check whether your company may run",
      how: "It checks as soon as it is connected.",
    },
    ...(plan === "trial" ? [planStep()] : []),
  ];
}

type FirstDaysProps = { account: Account; sessions: readonly Session[]; nowMs: number };

/** The first steps of an account, shown until its first days have passed or all steps are done. */
export function FirstDays({ account, sessions, nowMs }: FirstDaysProps) {
  const steps = stepsOf(account, sessions);
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length || nowMs >= account.created_at_ms + firstDaysMs) return null;
  return (
    <section aria-labelledby="first-days">
      <h2 id="first-days">Your first days</h2>
      <p className="quiet" role="status">
        {done} of {steps.length} done. Steps are ticked off automatically.
      </p>
      <ol className="first-days">
        {steps.map(({ isDone, title, how }) => (
          <li key={title} data-is-done={isDone}>
            <Tick isDone={isDone} />
            <div>
              <strong>{title}</strong>
              <span className="unseen">{isDone ? ": done." : ": not done yet."}</span>
              {!isDone && <p>{how}</p>}
            </div>
          </li>
        ))}
      </ol>
      <p>
        Then give one assistant one weekly job whose result you can judge in five minutes. Set two fixed times
        a day to read results and approve them.
      </p>
    </section>
  );
}
