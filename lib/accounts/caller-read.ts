import { type CompiledQuery, sql } from "kysely";
import { accountAt } from "@/lib/accounts/account-columns";
import type { Used } from "@/lib/auth/sessions/session-use";
import { nameStatement } from "@/lib/db/statement-names";
import { type Db, isPostgres } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** What a verified token names, and the time now. */
type Named = { subject: string; sessionId: string; keyId: string; nowMs: number };

/** The account, with null for a session that has expired and a key that was revoked. */
type CallerRow = Tables["accounts"] &
  Record<keyof Used, number | null> &
  Record<"barred_id" | "ended_id" | "session_id" | "key_id" | "kind" | "client_hash", string | null>;

type Query = CompiledQuery<CallerRow & { place: number }>;

type Waiting = {
  named: Named;
  resolve: (row: CallerRow | undefined) => void;
  reject: (failure: unknown) => void;
};

const batches = new WeakMap<Db, { query: Query; waiting: Waiting[] }>();

/**
 * Reads the account, and whether its session, the token's key and the user at Clerk are still valid. A token of Clerk's
 * has no key and none of our sessions. All reads in the same turn of the event loop become one query, because a query's
 * overhead is several times the cost of its row. Every caller gets data that was read after its call.
 *
 * If the query fails, it fails for the whole batch, so pass only values that a client cannot make up.
 */
export function readCaller(db: Db, named: Named): Promise<CallerRow | undefined> {
  const { query, waiting } = batches.get(db) ?? { query: compile(db), waiting: [] };
  batches.set(db, { query, waiting });
  return new Promise((resolve, reject) => {
    waiting.push({ named, resolve, reject });
    if (waiting.length === 1) setImmediate(() => execute(db, query, waiting.splice(0)));
  });
}

async function execute(db: Db, query: Query, together: readonly Waiting[]): Promise<void> {
  try {
    const asked = JSON.stringify(together.map(({ named }, place) => ({ place, ...named })));
    const parameters = query.parameters.map((value) => (value === inputs ? asked : value));
    const { rows } = await db.executeQuery<CallerRow & { place: number }>({ ...query, parameters });
    for (const row of rows) together[row.place]?.resolve(row);
    // All other reads found no row; resolving a promise a second time has no effect.
    for (const { resolve } of together) resolve(undefined);
  } catch (failure) {
    for (const { reject } of together) reject(failure);
  }
}

/** Stands in the compiled query for what a batch names, which is one array of JSON. */
const inputs = Symbol("inputs");

/**
 * Compiles the query, once per database; PostgreSQL plans it once per connection. It names its columns, because one that
 * is added later must not change its result.
 */
function compile(db: Db): Query {
  const asked = isPostgres(db)
    ? sql`* from json_to_recordset(${inputs}) as list (place bigint, subject text, "sessionId" text, "keyId" text, "nowMs" bigint)`
    : sql`value ->> 'place' as place, value ->> 'subject' as subject, value ->> 'sessionId' as "sessionId", value ->> 'keyId' as "keyId", value ->> 'nowMs' as "nowMs" from json_each(${inputs})`;
  const query = db
    .selectFrom(sql<Named & { place: number }>`(select ${asked})`.as("asked"))
    .innerJoin("accounts", "accounts.subject", "asked.subject")
    .leftJoin("local_sessions as session", (join) =>
      join
        .onRef("session.account_id", "=", "accounts.id")
        .onRef("session.id", "=", "asked.sessionId")
        .onRef("session.expires_at_ms", ">", "asked.nowMs")
        .on("session.ended_as", "is", null),
    )
    .leftJoin("signing_keys as key", (join) =>
      join.onRef("key.kid", "=", "asked.keyId").on("key.revoked_at_ms", "is", null),
    )
    .leftJoin("clerk_users as barred", (join) =>
      join.onRef("barred.id", "=", "asked.subject").onRef("barred.barred_until_ms", ">", "asked.nowMs"),
    )
    .leftJoin("clerk_sessions_ended as ended", "ended.id", "asked.sessionId")
    .select(accountAt(sql.ref<number>("asked.nowMs")))
    .select(["asked.place", "barred.id as barred_id", "ended.id as ended_id"])
    .select(["session.id as session_id", "key.kid as key_id"])
    .select(["session.kind", "session.client_hash", "session.expires_at_ms", "session.last_seen_at_ms"])
    .select("session.last_date_ms")
    .compile();
  nameStatement(query.sql);
  return query;
}
