import { pages } from "@/lib/http/register/pages";
import { ownerPage } from "../../owner-page";
import { AccessHead } from "../access-head";
import { ForPrograms } from "../for-programs";
import { readAccess } from "../read-access";
import { Tokens } from "../sessions";

/** The tokens with which an owner's own programs ask the API. */
export const { GET } = ownerPage(
  pages.developers,
  {},
  async ({ account, sessionId, query, isLocal, nowMs }) => {
    const read = await readAccess(account, nowMs);
    return (
      <>
        <AccessHead at={pages.developers} query={query} read={read} />
        <div className="columns">
          <ForPrograms accountId={account.id} isLocal={isLocal} />
          <Tokens read={read} accountId={account.id} ownId={sessionId} nowMs={nowMs} />
        </div>
      </>
    );
  },
);
