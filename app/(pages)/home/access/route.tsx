import { maxNameCharacters } from "@/lib/auth/passkeys/passkeys";
import { sessionDays } from "@/lib/config/lifetimes";
import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import type { Problem } from "../../problem";
import { ownerPage } from "../owner-page";
import { AccessHead } from "./access-head";
import { Apps } from "./apps";
import { ConnectSomething } from "./connect-something";
import { Browsers, readSessions } from "./sessions";
import { readSignInMethods, SignInMethodList } from "./sign-in-methods";

const problems: Record<string, Problem> = {
  "no-apps": { words: "No app is connected. Those that ended are listed below." },
  confirm: { words: "Confirm that it is you under “Ways to sign in”, then remove the passkey." },
  name: { words: `A name has 1 to ${maxNameCharacters} characters.`, isTyped: true },
};

/** Who and what can act for the account: apps, browsers and passkeys. */
export const { GET } = toPlatform(
  ownerPage(pages.access, problems, async (visit) => {
    const { account, sessionId, query, isLocal, nowMs } = visit;
    // One after the other, so that a page holds one connection to the store at a time.
    const read = await readSessions(account, nowMs);
    const ways = isLocal ? await readSignInMethods(account.id) : undefined;
    const own = read?.sessions.find(({ id }) => id === sessionId);
    const shown = { read, accountId: account.id, ownId: sessionId, nowMs };
    return (
      <>
        <AccessHead at={pages.access} query={query} read={read} />
        {query.kept !== undefined && <p role="status">Your apps have another {sessionDays.app} days.</p>}
        <div className="columns">
          <div>
            <Apps {...shown} />
            {read && <ConnectSomething sessions={read.sessions} nowMs={nowMs} />}
          </div>
          <div>
            <Browsers {...shown} isLocal={isLocal} />
            {isLocal && <SignInMethodList {...visit} ways={ways} own={own} />}
          </div>
        </div>
      </>
    );
  }),
);
