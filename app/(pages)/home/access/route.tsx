import { maxNameCharacters } from "@/lib/auth/passkeys/passkeys";
import { sessionDays } from "@/lib/config/lifetimes";
import { pages } from "@/lib/http/register/pages";
import type { Problem } from "../../problem";
import { ownerPage } from "../owner-page";
import { AccessHead } from "./access-head";
import { Apps } from "./apps";
import { ConnectSomething } from "./connect-something";
import { readAccess } from "./read-access";
import { Browsers } from "./sessions";
import { SignInMethodList } from "./sign-in-methods";

const problems: Record<string, Problem> = {
  "no-apps": { words: "No app is connected. Those that ended are listed below." },
  confirm: { words: "Confirm that it is you under “Ways to sign in”, then remove the passkey." },
  name: { words: `A name has 1 to ${maxNameCharacters} characters.`, isTyped: true },
};

/** Who and what can act for the account: apps, browsers and passkeys. */
export const { GET } = ownerPage(pages.access, problems, async (visit) => {
  const { account, sessionId, query, isLocal, nowMs } = visit;
  const read = await readAccess(account, nowMs);
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
          {isLocal && <SignInMethodList {...visit} ways={read?.ways} own={own} />}
        </div>
      </div>
    </>
  );
});
