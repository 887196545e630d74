import { identifyCaller } from "@/lib/accounts/caller";
import { renewingAtClerk } from "@/lib/auth/clerk-renewal";
import { settings } from "@/lib/config/settings";
import { readCookie } from "@/lib/http/cookies";
import { redirectTo } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import type { ResponseParts } from "@/lib/http/response";
import { htmlPage } from "../html-page";
import { readHomeBilling } from "./billing";
import { readCredits } from "./credits";
import { HomePage } from "./home-page";
import { readSessions } from "./sessions";
import { decideHomeState } from "./state";
import { readWays } from "./ways";

/** The CEO's page: may the company run, why not, and what to do. */
export const GET = htmlPage(
  pages.home,
  renewingAtClerk(async ({ url, headers, context, nowMs }, isClerkAway) => {
    const isLocal = settings().signIn.kind === "local";
    const query = Object.fromEntries(url.searchParams);
    const caller = await identifyCaller(headers, context, undefined, nowMs);
    const isAway = isClerkAway || query.away !== undefined;
    if (caller.is === "signed-out" && !isAway) return leadOn(isLocal, query.renewed !== undefined);
    const state = decideHomeState(caller.is === "signed-out" ? notRenewed : caller, nowMs);
    const { account, session } = caller.is === "account" ? caller : {};
    // A program's session neither lists sessions nor ends them.
    const isPersons = session !== undefined && session.kind !== "program";
    const own = isPersons ? account : undefined;
    // One after the other, so that a page holds one connection to the store at a time.
    const read = {
      credits: account && (await readCredits(account.id, query.before)),
      sessions: own && (await readSessions(own, nowMs)),
      billing: own && (await readHomeBilling(own, nowMs)),
      ways: own && isLocal ? await readWays(own.id) : undefined,
      hasPendingRequest: readCookie(headers, "office-request") !== undefined,
    };
    const shown = { query, state, account, ownId: isPersons ? session.sessionId : undefined };
    return { title: "Home", content: <HomePage {...shown} read={read} isLocal={isLocal} nowMs={nowMs} /> };
  }),
);

/** A session token is valid for a minute, its session for a week: most returning browsers only need a renewal. */
function leadOn(isLocal: boolean, hasRenewed: boolean): ResponseParts {
  if (!isLocal) return redirectTo({ to: pages.signIn.path });
  return redirectTo({ to: hasRenewed ? `${pages.signIn.path}?problem=cookies` : actions.renewSession.path });
}

/** The renewal failed with an outage, so it is unknown whether the session is still valid. */
const notRenewed = { is: "unavailable", retryAfterSeconds: 5 } as const;
