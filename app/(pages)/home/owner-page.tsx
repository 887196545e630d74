import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { identifyCaller } from "@/lib/accounts/caller";
import { clearSession } from "@/lib/auth/local-sign-in";
import { renewingSession } from "@/lib/auth/sessions/session-renewal";
import { settings } from "@/lib/config/settings";
import { keepAskedPage } from "@/lib/http/asked-page";
import type { SentHeaders } from "@/lib/http/call";
import { sendsCookie } from "@/lib/http/cookies";
import { redirectTo, withProblem } from "@/lib/http/form";
import type { RouteHandler } from "@/lib/http/handler";
import { isAccountGone } from "@/lib/http/known-browser";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { ownerPages, type Page, pages } from "@/lib/http/register/pages";
import { choosePlan, isDue, leavingWords, notSold } from "@/lib/plans/entitlement-words";
import { licenceStateOf } from "@/lib/plans/licence-state";
import type { Contents, Plans } from "@/lib/plans/plan";
import { describeStanding, type Standing } from "@/lib/plans/standing";
import { Clerk } from "../clerk";
import { Clock } from "../clock";
import { wide } from "../html-page";
import { Icon } from "../icons";
import { PostButton } from "../post-form";
import { findProblem, type Problem, ProblemNote } from "../problem";
import { Support } from "../support";
import { TryAgain } from "../try-again";
import { type Purchases, readPurchases, sellsPlans } from "./billing/offers";
import { CheckResult } from "./check-result";

/** A visit by the owner in person, not by a program that has a token. */
export type OwnVisit = {
  query: Record<string, string>;
  /** What the address says that went wrong; the page shows it above its content. */
  problem: Problem | undefined;
  headers: SentHeaders;
  state: Standing;
  account: Account;
  /** What its plan and what an operator gives beyond it contain. */
  contents: Contents;
  plans: Plans;
  bought: Purchases | undefined;
  sessionId: string;
  /** When Clerk has last seen a proof of who they are. */
  confirmedAtMs: number | undefined;
  isLocal: boolean;
  /** Whether no plan is sold here, as far as that was to be known. */
  isUnsold: boolean;
  nowMs: number;
};

/**
 * An owner's page. A program, or anyone whose account cannot be read, sees only whether the company may run.
 *
 * @param problems - those that the forms of the page may have, by their names in the address
 */
export function ownerPage(
  page: Page & { name: string },
  problems: Record<string, Problem>,
  show: (visit: OwnVisit) => Promise<ReactNode>,
): RouteHandler {
  return handlePage(
    page,
    wide,
    renewingSession(async (call, isAway) => {
      const { url, headers, nowMs } = call;
      const isLocal = settings().signIn.kind === "local";
      const query = Object.fromEntries(url.searchParams);
      const caller = await identifyCaller(call, undefined);
      if (caller.is === "signed-out" && caller.isBarred)
        return { ...barred, links: <Links at={page} email={undefined} isLocal={isLocal} /> };
      const isGone = isLocal && caller.is === "unreadable" && (await isAccountGone(headers));
      if ((caller.is === "signed-out" && !isAway) || isGone) {
        const asked = keepAskedPage(page.path);
        const hadSession = sendsCookie(headers, "office-client");
        return redirectTo(
          hadSession
            ? { to: withProblem(pages.signIn.path, "ended"), cookies: [...clearSession(), asked] }
            : { to: pages.signIn.path, cookies: [asked] },
        );
      }
      const { account, contents, plans, session } = caller.is === "account" ? caller : {};
      const isOwn =
        account !== undefined &&
        contents !== undefined &&
        plans !== undefined &&
        session !== undefined &&
        session.kind !== "program";
      const bought = account && (await readPurchases(account));
      const known = caller.is === "signed-out" ? ({ is: "unavailable" } as const) : caller;
      const standing = describeStanding(known, bought?.licence, nowMs, account?.time_zone);
      const asksForPlan = standing.step?.words === choosePlan;
      const isUnsold =
        plans !== undefined &&
        settings().billing !== undefined &&
        (asksForPlan || account?.plan === "hobby") &&
        !(await sellsPlans(plans, nowMs));
      const state: Standing = {
        ...standing,
        ...(isUnsold && asksForPlan && notSold(standing.mayRun)),
        ...(account?.deletes_at_ms != null && {
          light: ["stopped", "Will be deleted"],
          ...leavingWords(account.deletes_at_ms, account.time_zone),
          isForUs: undefined,
          other: undefined,
        }),
      };
      const visit = { query, headers, state, account, bought, isLocal, isUnsold, nowMs };
      const problem = findProblem(url, {
        "sign-out": {
          words:
            "Signing out did not work, so you are still signed in. This is on our side. Try again in a moment.",
        },
        ...problems,
      });
      // The two pages that are about what an account has say themselves how it is.
      const isAside = page !== pages.home && page !== pages.billing;
      const isToBePaid =
        isAside &&
        account?.deletes_at_ms === null &&
        bought?.licence &&
        isDue(licenceStateOf(bought.licence));
      const again = problem ? `${page.path}?problem=sign-out` : page.path;
      const content = (
        <div
          className="home"
          data-account={isOwn ? account.id : undefined}
          {...freshness(state, isLocal, again)}
          {...(isOwn && learning(account, session.actor))}
        >
          <ProblemNote problem={problem} />
          {isOwn && account.deletes_at_ms !== null && isAside && (
            <p className="problem" role="alert">
              Your account will be deleted on <Clock atMs={account.deletes_at_ms} shows="day and time" />.{" "}
              <a href={`${pages.account.path}#leave`}>Keep it</a>
            </p>
          )}
          {isOwn && isToBePaid && (
            <p className="problem" role="alert">
              {state.heading}. <a href={pages.billing.path}>See Billing</a>
            </p>
          )}
          {isOwn ? (
            await show({
              ...visit,
              problem,
              account,
              contents,
              plans,
              sessionId: session.sessionId,
              confirmedAtMs: session.confirmedAtMs,
            })
          ) : (
            <CheckResult
              {...visit}
              then={state.status === "unavailable" && <TryAgain at={again} failed={call.requestId} copies />}
            />
          )}
          <div className="foot-notes">
            {state.status !== "unavailable" && <Checked nowMs={nowMs} />}
            <Support />
          </div>
        </div>
      );
      return {
        title: page.name,
        content,
        zone: isOwn ? account.time_zone : null,
        links: <Links at={page} email={account?.email} isLocal={isLocal} />,
      };
    }),
  );
}

/** Of a user who is banned at Clerk: the page of sign-in would lead who has a session there back here, for ever. */
const barred = {
  title: "Your sign-in is blocked",
  status: 403,
  content: (
    <div className="home">
      <div className="narrow">
        <h1>Your sign-in is blocked</h1>
        <p>The people who run this service have blocked it. Your account stays as it is.</p>
        <Support />
      </div>
    </div>
  ),
};

/** How the page's script keeps it current: when it checks again and where, and how it renews one of our sessions. */
function freshness(state: Standing, isLocal: boolean, again: string) {
  if (state.status === "unavailable") return { "data-checks-after": 5, "data-checks": again };
  return {
    "data-checks-after": state.checkAgainAfterSeconds,
    ...(isLocal && { "data-renews-at": forms.renewSession.path }),
  };
}

/** Where the page's script says which time zone its browser is in, while that is not known. */
function learning({ time_zone }: Account, impersonator: unknown) {
  if (time_zone !== null || impersonator !== undefined) return {};
  return { "data-learns-zone": forms.chooseTimeZone.path };
}

/** The owner's pages, and a menu that says who is signed in. */
function Links({ at, email, isLocal }: { at: Page; email: string | undefined; isLocal: boolean }) {
  return (
    <>
      <div className="tabs">
        {Object.values(ownerPages).map((page) => (
          <a key={page.path} href={page.path} aria-current={currentIn(page, at)}>
            {page.name}
          </a>
        ))}
      </div>
      {isLocal ? (
        <>
          <button type="button" className="plain small round" popoverTarget="me" aria-label="Your account">
            <Icon name="person" />
          </button>
          <div id="me" popover="auto" className="card">
            <p className="quiet">Signed in as</p>
            <p className="who">{email ?? "We cannot say at the moment"}</p>
            <a href={pages.quickStart.path}>Documents</a>
            <PostButton action={forms.signOut.path} look="plain small">
              Sign out
            </PostButton>
          </div>
        </>
      ) : (
        <Clerk part="UserButton" />
      )}
    </>
  );
}

/** Whether a tab is this page's, or that of a page which this one is a part of. */
function currentIn(tab: Page, at: Page): "page" | "true" | undefined {
  if (tab.path === at.path) return "page";
  return tab !== pages.home && at.path.startsWith(`${tab.path}/`) ? "true" : undefined;
}

/** As of when the page is, and its time zone. */
function Checked({ nowMs }: { nowMs: number }) {
  return (
    <p className="quiet">
      Up to date at <Clock atMs={nowMs} shows="time" />
      <span data-time-zone="" />. <span className="with-script">This page keeps itself current.</span>
      <noscript>Reload this page to check again.</noscript>
    </p>
  );
}
