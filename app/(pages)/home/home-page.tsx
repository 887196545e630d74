import type { Account } from "@/lib/accounts/account";
import { maxNameCharacters } from "@/lib/auth/passkeys";
import { errorCatalogue } from "@/lib/http/errors";
import { actions, pages } from "@/lib/http/pages";
import { findProblem, type Problem, ProblemNote } from "../problem";
import { Support } from "../support";
import { TryAgain } from "../try-again";
import { Assistants } from "./assistants";
import { Billing, CheckoutNote, type readHomeBilling } from "./billing";
import { Checked } from "./checked";
import { ConnectSomething } from "./connect-something";
import { Credits, type readCredits } from "./credits";
import { FirstDays } from "./first-days";
import { ForPrograms } from "./for-programs";
import { PasskeyOffer } from "./passkey-offer";
import { type readSessions, Sessions } from "./sessions";
import type { HomeState } from "./state";
import { CheckResult } from "./verdict";
import { type Ways, WaysToSignIn } from "./ways";
import { Who } from "./who";

type HomePageProps = {
  query: Record<string, string>;
  state: HomeState;
  account: Account | undefined;
  /** The session of the person whom the page is shown to; none of a program. */
  ownId: string | undefined;
  /** What the sections show; `undefined` where that could not be read. */
  read: {
    credits: Awaited<ReturnType<typeof readCredits>>;
    sessions: Awaited<ReturnType<typeof readSessions>>;
    billing: Awaited<ReturnType<typeof readHomeBilling>>;
    ways: Ways | undefined;
    hasPendingRequest: boolean;
  };
  isLocal: boolean;
  nowMs: number;
};

/** What {@link GET} of `/home` has read. */
export function HomePage({ query, state, account, ownId, read, isLocal, nowMs }: HomePageProps) {
  const { credits, sessions, billing, ways } = read;
  const problem = findProblem(query, problems);
  const own = sessions?.sessions.find(({ id }) => id === ownId);
  return (
    <div className="home" {...freshness(state, isLocal, problem)}>
      <Who email={account?.email} isLocal={isLocal} />
      <ProblemNote problem={problem} />
      <CheckoutNote outcome={query.checkout} isLicensed={account?.plan === "licensed"} />
      <CheckResult state={state} account={account} nowMs={nowMs} />
      {read.hasPendingRequest && <AppWaits />}
      {billing && <Billing {...billing} />}
      {account && ways && own && <PasskeyOffer accountId={account.id} ways={ways} session={own} />}
      {account && (
        <div className="facts">
          {account.assistantLimit !== null && <Assistants limit={account.assistantLimit} />}
          <Credits account={account} read={credits} nowMs={nowMs} />
        </div>
      )}
      <Checked state={state} nowMs={nowMs} />
      {state.status === "unavailable" && <TryAgain at={addressAfter(problem)} />}
      {account && sessions && state.mayRun && (
        <FirstDays account={account} sessions={sessions.sessions} nowMs={nowMs} />
      )}
      {account && ownId && (
        <>
          {sessions && <ConnectSomething sessions={sessions.sessions} />}
          <Sessions
            read={sessions}
            accountId={account.id}
            ownId={ownId}
            isLocal={isLocal}
            ended={query.ended}
            hasExtended={query.extended !== undefined}
            nowMs={nowMs}
          />
          {isLocal && (
            <WaysToSignIn
              account={account}
              ways={ways}
              confirmedAtMs={own?.confirmedAtMs}
              done={
                query.removed !== undefined ? "removed" : query.renamed !== undefined ? "renamed" : undefined
              }
              nowMs={nowMs}
            />
          )}
          <ForPrograms accountId={account.id} isLocal={isLocal} />
          <form method="post" action={actions.exportPerson.path}>
            <input type="hidden" name="account" value={account.id} />
            <button type="submit" className="plain">
              Download your data
            </button>
          </form>
        </>
      )}
      <Support />
    </div>
  );
}

/** How the page's script keeps it current: when it checks again and where, and how it renews one of our sessions. */
function freshness(state: HomeState, isLocal: boolean, problem: Problem | undefined) {
  if (state.status === "unavailable") {
    return { "data-checks-after": 5, "data-checks": addressAfter(problem) };
  }
  return {
    "data-checks-after": state.checkAgainAfterSeconds,
    ...(isLocal && {
      "data-renews-at": actions.renewSession.path,
      "data-when-over": `${pages.signIn.path}?problem=ended`,
    }),
  };
}

/** Where the page is shown once the account can be checked again. */
const addressAfter = (problem: Problem | undefined) =>
  problem ? `${pages.home.path}?problem=sign-out` : pages.home.path;

const billingProblems = [
  "billing_not_configured",
  "credits_not_configured",
  "checkout_failed",
  "paid_only",
  "portal_failed",
] as const;

const problems: Record<string, Problem> = {
  ...Object.fromEntries(
    billingProblems.map((code) => {
      const { message, hint } = errorCatalogue[code];
      return [code, { words: `${message} ${hint}` }];
    }),
  ),
  "app-ended": { words: "This app’s access has already ended. Connect it again from the app." },
  confirm: {
    words: "Confirm that it is you under “Ways to sign in”, then remove the passkey.",
  },
  name: { words: `A name has 1 to ${maxNameCharacters} characters.`, isTyped: true },
  "sign-out": {
    words:
      "Signing out did not work, so you are still signed in. This is on our side. Try again in a moment.",
  },
};

/** Links a person whom an app sent to sign in back to that app's request. */
function AppWaits() {
  return (
    <p className="notice">
      An app is waiting for your approval. <a href={pages.connect.path}>See the request</a>
    </p>
  );
}
