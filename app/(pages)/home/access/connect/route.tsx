import { pages } from "@/lib/http/register/pages";
import { ownerPage } from "../../owner-page";
import { ConnectOne } from "../connect-something";
import { readAccess } from "../read-access";

/** How one app is connected; without its name in the address, the apps to choose from. */
export const { GET } = ownerPage(pages.connectApp, {}, async ({ account, query, nowMs }) => {
  const sessions = (await readAccess(account, nowMs))?.sessions ?? [];
  return (
    <div className="one-app">
      <p>
        <a href={`${pages.access.path}#connect-something`}>← Access</a>
      </p>
      <ConnectOne slug={query.app ?? ""} sessions={sessions} nowMs={nowMs} />
    </div>
  );
});
