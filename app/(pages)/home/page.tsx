import type { Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { identifyCaller } from "@/lib/accounts/caller";
import { maxNameCharacters } from "@/lib/auth/passkeys";
import { settings } from "@/lib/config/settings";
import { readCookie } from "@/lib/http/cookies";
import { errorCatalogue } from "@/lib/http/errors";
import { actions, pages } from "@/lib/http/pages";
import { createRequestContext } from "@/lib/http/request-context";
import { findProblem, type Problem, ProblemNote } from "../problem";
import { SiteBanner } from "../site-banner";
import { Support } from "../support";
import { Assistants } from "./assistants";
import { Billing, CheckoutNote } from "./billing";
import { Checked } from "./checked";
import { ComeBack } from "./come-back";
import { ConnectSomething } from "./connect-something";
import { Credits } from "./credits";
import { FirstDays } from "./first-days";
import { ForPrograms } from "./for-programs";
import { KeepFresh } from "./keep-fresh";
import { PasskeyOffer } from "./passkey-offer";
import { readSessions, Sessions } from "./sessions";
import { decideHomeState } from "./state";
import { CheckResult } from "./verdict";
import { readWays, WaysToSignIn } from "./ways";
import { Who } from "./who";

export const metadata: Metadata = { title: "Home", robots: { index: false } };

/** The CEO's page: may the company run, why not, and what to do. */
export default async function HomePage({ searchParams }: PageProps<"/home">) {
  const requestHeaders = await headers();
  const nowMs = Date.now();
  const isLocal = settings().signIn.kind === "local";
  const { renewed, away, ended, extended, before, checkout, removed, renamed, ...query } = await searchParams;
  const problem = findProblem(query, problems);
  const caller = await identifyCaller(
    requestHeaders,
    createRequestContext("GET", pages.home.path, requestHeaders),
    undefined,
  );
  if (caller.is === "signed-out" && away === undefined) leadOn(isLocal, renewed !== undefined);
  const state = decideHomeState(caller.is === "signed-out" ? notRenewed : caller, nowMs);
  const { account, session } = caller.is === "account" ? caller : {};
  // A program's session neither lists sessions nor ends them.
  const isPersons = session !== undefined && session.kind !== "program";
  const read = account && isPersons ? await readSessions(account, nowMs) : undefined;
  const ways = account && isPersons && isLocal ? await readWays(account.id) : undefined;
  const own = read?.sessions.find(({ id }) => id === session?.sessionId);
  return (
    <div className="home">
      <SiteBanner isPublic={false} />
      <Who email={account?.email} isLocal={isLocal} />
      <ProblemNote problem={problem} />
      <CheckoutNote outcome={checkout} isLicensed={account?.plan === "licensed"} />
      <CheckResult state={state} account={account} nowMs={nowMs} />
      {readCookie(requestHeaders, "office-request") && <AppWaits />}
      {account && isPersons && <Billing account={account} nowMs={nowMs} />}
      {account && ways && own && <PasskeyOffer accountId={account.id} ways={ways} session={own} />}
      {account && (
        <div className="facts">
          {account.assistantLimit !== null && <Assistants limit={account.assistantLimit} />}
          <Credits account={account} before={before} nowMs={nowMs} />
        </div>
      )}
      <Checked state={state} nowMs={nowMs} />
      {state.status === "unavailable" ? (
        <ComeBack at={problem ? `${pages.home.path}?problem=sign-out` : pages.home.path} />
      ) : (
        <KeepFresh
          checkAgainAfterSeconds={state.checkAgainAfterSeconds}
          renewal={isLocal ? renewal : undefined}
        />
      )}
      {account && read && state.mayRun && (
        <FirstDays account={account} sessions={read.sessions} nowMs={nowMs} />
      )}
      {account && isPersons && (
        <>
          {read && <ConnectSomething sessions={read.sessions} />}
          <Sessions
            read={read}
            accountId={account.id}
            ownId={session.sessionId}
            isLocal={isLocal}
            ended={ended?.toString()}
            hasExtended={extended !== undefined}
            nowMs={nowMs}
          />
          {isLocal && (
            <WaysToSignIn
              account={account}
              ways={ways}
              confirmedAtMs={own?.confirmedAtMs}
              done={removed !== undefined ? "removed" : renamed !== undefined ? "renamed" : undefined}
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
  export: {
    words: "We could not prepare your data. Try again in a moment.",
  },
  "sign-out": {
    words:
      "Signing out did not work, so you are still signed in. This is on our side. Try again in a moment.",
  },
};

/** A session token is valid for a minute, its session for a week: most returning browsers only need a renewal. */
function leadOn(isLocal: boolean, hasRenewed: boolean): never {
  if (!isLocal) redirect(pages.signIn.path);
  redirect(hasRenewed ? `${pages.signIn.path}?problem=cookies` : actions.renewSession.path);
}

/** How the open page renews a session of local sign-in. */
const renewal = { renewsAt: actions.renewSession.path, whenOver: `${pages.signIn.path}?problem=ended` };

/** The renewal failed with an outage, so it is unknown whether the session is still valid. */
const notRenewed = { is: "unavailable", retryAfterSeconds: 5 } as const;

/** Links a person whom an app sent to sign in back to that app's request. */
function AppWaits() {
  return (
    <p className="notice">
      An app is waiting for your approval. <a href={pages.connect.path}>See the request</a>
    </p>
  );
}
