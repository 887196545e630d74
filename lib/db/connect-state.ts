import { type Kysely, type RawBuilder, sql } from "kysely";
import { isPostgres } from "@/lib/db/event-triggers";
import type { Tables } from "@/lib/db/tables";

/*
 * What a row of `connect_state` says in its payload of the account and the client that it is about. These are the
 * expressions of indexes, so rows are found however many there are, and also those of builds that knew no such index.
 */

/** The subject of the account, in SQL; `null` if there is none yet. */
export const subjectInState = (isOnPostgres: boolean) =>
  isOnPostgres
    ? `substring(payload from '"accountId":"([^"]+)"')`
    : "case when json_valid(payload) then coalesce(payload ->> '$.accountId', payload ->> '$.result.login.accountId') end";

/** The begin of the id of the client that holds a grant, in SQL. */
export const clientInState = (isOnPostgres: boolean) =>
  isOnPostgres
    ? `substring(payload from '"clientId":"([^"]{1,100})')`
    : "case when json_valid(payload) then substr(payload ->> '$.clientId', 1, 100) end";

export const subjectOfState = (db: Kysely<Tables>): RawBuilder<string | null> =>
  sql.raw(subjectInState(isPostgres(db)));
export const clientOfState = (db: Kysely<Tables>): RawBuilder<string | null> =>
  sql.raw(clientInState(isPostgres(db)));

/** The begin of a client's id, which is long enough to tell it from others; a whole one is too large for an index. */
export const beginOfClient = (id: string) => id.slice(0, 100);
