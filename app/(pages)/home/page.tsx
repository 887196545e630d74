import type { Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { Account } from "@/lib/accounts/accounts";
import { identifyCaller } from "@/lib/accounts/caller";
import { toCredits } from "@/lib/accounts/ledger";
import { readCookie } from "@/lib/api/cookies";
import { actions, pages } from "@/lib/api/pages";
import { beginVisit } from "@/lib/api/visit";
import { settings } from "@/lib/settings/settings";
import { Clerk } from "../clerk";
import { findProblem, type Problem, ProblemNote } from "../problem";
import { SiteBanner } from "../site-banner";
import { Support } from "../support";
import { TryAgain } from "../try-again";
import { CopyToken } from "./copy-token";
import { KeepFresh } from "./keep-fresh";
import { Sessions } from "./sessions";
import { decideHomeState, type HomeState } from "./state";
import { TrialLeft } from "./trial-left";

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
    <>
      <SiteBanner isPublic={false} />
      <Who email={account?.email} isLocal={isLocal} />
      <ProblemNote problem={problem} />
      <Verdict state={state} account={account} nowMs={nowMs} />
      {readCookie(requestHeaders, "office-request") && <AppWaits />}
      {account && <Facts account={account} />}
      <Checked state={state} nowMs={nowMs} />
      {state.status === "unavailable" ? (
        <TryAgain at={problem ? "/home?problem=sign-out" : "/home"} />
      ) : (
        <KeepFresh checkAgainAfterSeconds={state.checkAgainAfterSeconds} renewsSession={isLocal} />
      )}
      {caller.is === "account" && caller.session.kind !== "program" && (
        <>
          <ForPrograms isLocal={isLocal} />
          <Sessions
            accountId={caller.account.id}
            ownId={caller.session.sessionId}
            isLocal={isLocal}
            hasEnded={ended !== undefined}
            nowMs={nowMs}
          />
        </>
      )}
      <Support />
    </>
  );
}

const problems: Record<string, Problem> = {
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

function Verdict({ state, account, nowMs }: VerdictProps) {
  return (
    <section className="verdict" data-status={state.status} data-may-run={state.mayRun}>
      <p className="tag">{statusNames[state.status]}</p>
      <h1>{state.heading}</h1>
      {account?.plan === "trial" && state.mayRun && (
        <TrialLeft startedAtMs={account.createdAtMs} endsAtMs={account.trialEndsAtMs} nowMs={nowMs} />
      )}
      <p>{state.next}</p>
    </section>
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

function Facts({ account }: { account: Account }) {
  return (
    <dl className="facts">
      {account.assistantLimit !== null && (
        <div>
          <dt>Assistants you may hire</dt>
          <dd>{account.assistantLimit}</dd>
        </div>
      )}
      <div>
        <dt>Credits</dt>
        <dd>{toCredits(account.creditThousandths).toLocaleString("en")}</dd>
      </div>
    </dl>
  );
}

function Checked({ state, nowMs }: { state: HomeState; nowMs: number }) {
  return (
    <p className="quiet">
      Checked at <Clock atMs={nowMs} />.{" "}
      <span className="with-script">
        Checked next at <Clock atMs={nowMs + state.checkAgainAfterSeconds * 1000} />, by itself, while this
        page is open.
      </span>
      <noscript>Reload this page to check again.</noscript>
    </p>
  );
}

function Clock({ atMs }: { atMs: number }) {
  const iso = new Date(atMs).toISOString();
  return <time dateTime={iso}>{iso.slice(11, 19)} UTC</time>;
}

function ForPrograms({ isLocal }: { isLocal: boolean }) {
  return (
    <section>
      <h2>A token for a program</h2>
      <p>
        A program of yours may ask what this page shows: whether the company may run, and its credits. Give it
        a token. It lives for an hour at most, ends when you {isLocal && "sign out or "}end it below, and
        cannot make an assistant send, publish, deploy or charge: those steps wait for your approval in the
        app.
      </p>
      <CopyToken />
      <p className="quiet">
        A token is a key. Never put it into a chat, an issue or a log.{" "}
        <a href={pages.quickStart.path}>How a program uses it</a>
      </p>
    </section>
  );
}
