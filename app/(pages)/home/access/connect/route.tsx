import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { ownerPage } from "../../owner-page";
import { ConnectOne, ConnectSomething } from "../connect-something";
import { readAccess } from "../read-access";

/** How one app is connected; without its name in the address, the apps to choose from. */
export const { GET } = toPlatform(
  ownerPage(pages.connectApp, {}, async ({ account, query, nowMs }) => {
    const sessions = (await readAccess(account, nowMs))?.sessions ?? [];
    const shown = { sessions, nowMs };
    return (
      <div className="one-app">
        <p>
          <a href={pages.access.path}>← Access</a>
        </p>
        <h1>Connect an app</h1>
        {query.app ? <ConnectOne slug={query.app} {...shown} /> : <ConnectSomething {...shown} />}
      </div>
    );
  }),
);
