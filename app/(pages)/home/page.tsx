import type { Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { Account } from "@/lib/accounts/account";
import { identifyCaller } from "@/lib/accounts/caller";
import { readCookie } from "@/lib/api/cookies";
import { actions, pages } from "@/lib/api/pages";
import { beginVisit } from "@/lib/api/visit";
import { settings } from "@/lib/settings/settings";
import { Clerk } from "../clerk";
import { Clock } from "../clock";
import { Light, type LightColour } from "../light";
import { findProblem, type Problem, ProblemNote } from "../problem";
import { SiteBanner } from "../site-banner";
import { Support } from "../support";
import { TryAgain } from "../try-again";
import { CopyToken } from "./copy-token";
import { Credits } from "./credits";
import { KeepFresh } from "./keep-fresh";
import { Sessions } from "./sessions";
import { decideHomeState, type HomeState } from "./state";
import { endsSoon, TrialLeft } from "./trial-left";

export const metadata: Metadata = { title: "Home", robots: { index: false } };

/** The CEO's page: may the company run, why not, and what to do. */
export default async function HomePage({ searchParams }: PageProps<"/home">) {
  const requestHeaders = await headers();
  const nowMs = Date.now();
  const isLocal = settings().signIn.kind === "local";
  const { renewed, away, ended, ...query } = await searchParams;
  const problem = findProblem(query, problems);
  const caller = await identifyCaller(
    requestHeaders,
    beginVisit("GET", pages.home.path, requestHeaders),
    undefined,
  );
  if (caller.is === "signed-out" && away === undefined) leadOn(isLocal, renewed !== undefined);
  const state = decideHomeState(caller.is === "signed-out" ? notRenewed : caller, nowMs);
  const account = caller.is === "account" ? caller.account : undefined;
  return (
    <div className="home">
      <SiteBanner isPublic={false} />
      <Who email={account?.email} isLocal={isLocal} />
      <ProblemNote problem={problem} />
      <Verdict state={state} account={account} nowMs={nowMs} />
      {readCookie(requestHeaders, "office-request") && <AppWaits />}
      {account && (
        <div className="facts">
          {account.assistantLimit !== null && <Assistants limit={account.assistantLimit} />}
          <Credits account={account} nowMs={nowMs} />
        </div>
      )}
      <Checked state={state} nowMs={nowMs} />
      {state.status === "unavailable" ? (
        <TryAgain at={problem ? "/home?problem=sign-out" : "/home"} />
      ) : (
        <KeepFresh checkAgainAfterSeconds={state.checkAgainAfterSeconds} renewsSession={isLocal} />
      )}
      {account && state.mayRun && nowMs < account.createdAtMs + firstDaysMs && <FirstDays />}
      {caller.is === "account" && caller.session.kind !== "program" && (
        <>
          <Sessions
            accountId={caller.account.id}
            ownId={caller.session.sessionId}
            isLocal={isLocal}
            hasEnded={ended !== undefined}
            nowMs={nowMs}
          />
          <ForPrograms isLocal={isLocal} />
          <form method="post" action={actions.exportPerson.path}>
            <button type="submit" className="plain">
              Download what is kept about you
            </button>
          </form>
        </>
      )}
      <Support />
    </div>
  );
}

const firstDaysMs = 14 * 24 * 60 * 60 * 1000;

const problems: Record<string, Problem> = {
  export: {
    words: "What is kept about you could not be put together. Try it again in a moment.",
  },
  "sign-out": {
    words:
      "You are still signed in: signing out did not work. This is on our side. Try it again in a moment.",
  },
};

/** A browser's session token lives a minute, its session a week: most who come back only have to renew. */
function leadOn(isLocal: boolean, hasRenewed: boolean): never {
  if (!isLocal) redirect("/sign-in");
  redirect(hasRenewed ? "/sign-in?problem=cookies" : "/sign-in/renew");
}

/** Whoever renews sessions could not be reached, so nobody knows whether this one still stands. */
const notRenewed = { is: "unavailable", retryAfterSeconds: 5 } as const;

/** Whoever was sent to sign in by an app comes by here. */
function AppWaits() {
  return (
    <p className="notice">
      An app waits for your answer. <a href={pages.connect.path}>See who asks</a>
    </p>
  );
}

function Who({ email, isLocal }: { email: string | undefined; isLocal: boolean }) {
  return (
    <div className="who">
      <p className="quiet">{email}</p>
      {isLocal ? (
        <form method="post" action={actions.signOut.path}>
          <button type="submit" className="plain">
            Sign out
          </button>
        </form>
      ) : (
        <Clerk part="user-button" />
      )}
    </div>
  );
}

type VerdictProps = { state: HomeState; account: Account | undefined; nowMs: number };

/** One sentence with a light. What changes while the page is open is announced. */
function Verdict({ state, account, nowMs }: VerdictProps) {
  const trial = account?.plan === "trial" && state.mayRun ? account : undefined;
  const isEnding = trial !== undefined && endsSoon(trial.trialEndsAtMs - nowMs);
  const [colour, word] = lightOf(state, isEnding);
  return (
    <section className="verdict" data-colour={colour} data-may-run={state.mayRun} aria-live="polite">
      <div className="lights">
        <Light colour={colour}>{word}</Light>
        <span className="tag">{statusNames[state.status]}</span>
      </div>
      <h1>{state.heading}</h1>
      {trial && <TrialLeft startedAtMs={trial.createdAtMs} endsAtMs={trial.trialEndsAtMs} nowMs={nowMs} />}
      <p>{state.next}</p>
      {!state.mayRun && <WriteForHelp state={state} account={account} />}
    </section>
  );
}

function lightOf({ mayRun, status }: HomeState, isEnding: boolean): [LightColour, string] {
  if (status === "unavailable") return ["unknown", "We cannot tell"];
  if (!mayRun) return ["stopped", "Stopped"];
  return isEnding ? ["soon", "Ends soon"] : ["good", "Runs"];
}

/** To whoever can help, with what they will ask for. */
function WriteForHelp({ state, account }: Omit<VerdictProps, "nowMs">) {
  const { supportEmail } = settings();
  if (!supportEmail || state.status === "unavailable") return null;
  const subject = encodeURIComponent(`Corner Office: ${state.heading.toLowerCase()}`);
  const body = encodeURIComponent(`My account is ${account?.email ?? ""}.\n\n`);
  return (
    <p className="actions">
      <a className="button" href={`mailto:${supportEmail}?subject=${subject}&body=${body}`}>
        Write to whoever can help
      </a>
    </p>
  );
}

const statusNames: Record<HomeState["status"], string> = {
  licensed: "Licensed",
  trial: "Trial",
  hobby: "Hobby",
  "trial-ended": "Trial ended",
  invalid: "Account not readable",
  unavailable: "Not checked",
  unconfigured: "Not set up",
};

const mostDrawn = 12;

/** Those that may be hired, each at a desk. */
function Assistants({ limit }: { limit: number }) {
  const drawn = Array.from({ length: Math.min(limit, mostDrawn) }, (_, at) => at);
  return (
    <section className="card" aria-labelledby="assistants">
      <dl>
        <dt id="assistants">Assistants you may hire</dt>
        <dd>{limit}</dd>
      </dl>
      <p className="desks" aria-hidden="true">
        {drawn.map((at) => (
          <svg key={at} viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="12" cy="6" r="3.2" />
            <path d="M7 17v-3a5 5 0 0 1 10 0v3M3 17.5h18M5.5 17.5V22M18.5 17.5V22" />
          </svg>
        ))}
        {limit > mostDrawn && <span>+{limit - mostDrawn}</span>}
      </p>
    </section>
  );
}

/** What to do first, while the account is new. */
function FirstDays() {
  return (
    <section>
      <h2>Your first days</h2>
      <ol className="first-days">
        <li>
          <strong>Connect an app.</strong> It asks here for your word, or shows a code to type at{" "}
          <a href={pages.connect.path}>Connect</a>.
        </li>
        <li>
          <strong>Give one assistant one job.</strong> One that comes back every week, and whose result you
          can judge in five minutes.
        </li>
        <li>
          <strong>Read before you approve.</strong> The thing itself, at fixed times, twice a day.
        </li>
      </ol>
    </section>
  );
}

function Checked({ state, nowMs }: { state: HomeState; nowMs: number }) {
  return (
    <p className="quiet">
      Checked at <Clock atMs={nowMs} shows="time" />.{" "}
      <span className="with-script">
        Checked next at <Clock atMs={nowMs + state.checkAgainAfterSeconds * 1000} shows="time" />, by itself,
        while this page is open.
      </span>
      <noscript>Reload this page to check again.</noscript>
    </p>
  );
}

function ForPrograms({ isLocal }: { isLocal: boolean }) {
  return (
    <details className="fold">
      <summary>For developers: a token for a program</summary>
      <p>
        A program of yours may ask what this page shows: whether the company may run, and its credits. Give it
        a token. It lives for an hour at most, ends when you {isLocal && "sign out or "}end it above, and
        cannot make an assistant send, publish, deploy or charge: those steps wait for your approval in the
        app.
      </p>
      <CopyToken />
      <p className="quiet">
        A token is a key. Never put it into a chat, an issue or a log.{" "}
        <a href={pages.quickStart.path}>How a program uses it</a>
      </p>
    </details>
  );
}
