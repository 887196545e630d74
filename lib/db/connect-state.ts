import { type RawBuilder, sql } from "kysely";
import { type Db, isPostgres } from "@/lib/db/store";

/*
 * What a row of `connect_state` says in its payload of the account and the client that it is about. These are the
 * expressions of indexes, so rows are found however many there are, and also those of builds that knew no such index.
 */

/** The subject of the account; `null` if there is none yet. */
export function subjectOfState(db: Db): RawBuilder<string | null> {
  return isPostgres(db)
    ? sql`substring(payload from '"accountId":"([^"]+)"')`
    : sql`case when json_valid(payload) then coalesce(payload ->> '$.accountId', payload ->> '$.result.login.accountId') end`;
}

/** The begin of a client's id, which is long enough to tell it from others; a whole one is too large for an index. */
export const beginOfClient = (id: string) => id.slice(0, 100);

/** The begin of the id of the client that holds a grant. */
export function clientOfState(db: Db): RawBuilder<string | null> {
  return isPostgres(db)
    ? sql`substring(payload from '"clientId":"([^"]{1,100})')`
    : sql`case when json_valid(payload) then substr(payload ->> '$.clientId', 1, 100) end`;
}
