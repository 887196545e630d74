import { sql } from "kysely";
import { type Account, parseAccount } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { keyRing } from "@/lib/auth/keys/key-ring";
import { readKind, type SessionKind } from "@/lib/auth/sessions/session";
import { recordBrowserNetwork, recordSessionUse, type Used } from "@/lib/auth/sessions/session-use";
import {
  type Refused,
  type Resource,
  readCredential,
  readPageCredential,
} from "@/lib/auth/tokens/credential";
import type { VerifiedToken } from "@/lib/auth/tokens/verifier";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { isPostgres } from "@/lib/db/event-triggers";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { listOf } from "@/lib/db/row-list";
import { type Db, store } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import type { Call } from "@/lib/http/call";
import { rememberCaller } from "@/lib/http/known-caller";
import { type Contents, contentsOf, type Plans, plansAt } from "@/lib/plans/plan";
import type { Client } from "@/lib/rate-limit/client";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/** The caller of an account route, or why there is none. Without a session, an account is only looked at. */
export type Caller =
  | { is: "account"; account: Account; contents: Contents; plans: Plans; session?: CallerSession }
  | { is: "unconfigured" }
  /** `isBarred`: by a ban of the user at Clerk, whose sessions there may go on. */
  | ({ is: "signed-out"; isBarred?: true } & Refused)
  /** `unreadable`: signed in, but the account's record is missing or does not parse. */
  | { is: "unreadable" | "unavailable" };

/** The caller's session: one of ours, or Clerk's own in a browser or an app that uses its SDK. */
export type CallerSession = VerifiedToken & ({ kind: SessionKind; endsAtMs: number } | { kind: "clerk" });

/**
 * Identifies the caller, of our pages without a resource, with one signature check and one read. It never throws: an outage
 * returns `unavailable`, and is never "signed out".
 */
export async function identifyCaller(call: Call, resource: Resource | undefined): Promise<Caller> {
  try {
    const caller = await withTimeout(answersWithinMs.store, identify(call, resource));
    if (caller.is === "account") rememberCaller(call.headers, caller.account.id, call.nowMs);
    return caller;
  } catch (failure) {
    log().error({ err: failure, requestId: call.requestId }, "an account could not be read");
    return { is: "unavailable" };
  }
}

/**
 * The credential that the request carries, and the verified token in it; then one read, with all others of this turn of the
 * event loop, of what the token names: the account, its session, its key, its user at Clerk. Who has none of these, or no
 * token, is signed out. A browser that may renew its session is told so only by a store that answers.
 */
async function identify(call: Call, resource: Resource | undefined): Promise<Caller> {
  const { nowMs } = call;
  const found = await (resource ? readCredential(call, resource) : call.once(readPageCredential));
  if (!("is" in found)) {
    call.subject = found.subject;
    return callerOfToken(await store(), found, nowMs, call.client);
  }
  if (found.is !== "renewable") return found;
  // Reads nothing, with the others of this turn; throws while the store is away.
  await readCaller(await store(), { subject: "", sessionId: "", nowMs });
  return { ...found, is: "signed-out" };
}

/**
 * Identifies the caller of a verified token. Throws while the store is away.
 *
 * @param db - in a transaction, the session is locked until its end: what ends the session comes before this, or after all
 * that the transaction does
 */
export async function callerOfToken(
  db: Db,
  token: VerifiedToken,
  nowMs: number,
  client?: Client,
): Promise<Caller> {
  const row = await readCaller(db, { ...token, nowMs });
  const isBrowsers = row !== undefined && row.session_id !== null && readKind(row) === "browser";
  if (client && isBrowsers) recordBrowserNetwork(token.sessionId, row, client, nowMs);
  return row ? callerOf(row, await plansAt(db, row.plans_version), token, nowMs) : { is: "unreadable" };
}

function callerOf(row: CallerRow, plans: Plans, token: VerifiedToken, nowMs: number): Caller {
  if (row.barred_id !== null && settings().signIn.kind === "clerk") return { ...signedOut, isBarred: true };
  const session = token.keyId === undefined ? sessionAtClerk(row, token) : ownSession(row, token, nowMs);
  if (!session) return signedOut;
  const account = parseAccount(row, nowMs);
  const contents = account && contentsOf(account, plans);
  return contents ? { is: "account", account, contents, plans, session } : { is: "unreadable" };
}

const signedOut = { is: "signed-out", tokenWasSent: true } as const;

function sessionAtClerk({ ended_id }: CallerRow, token: VerifiedToken): CallerSession | undefined {
  return ended_id === null ? { ...token, kind: "clerk" } : undefined;
}

/** Our own session, whose end its use moves; `undefined` if it has ended or the token's key was revoked. */
function ownSession(row: CallerRow, token: VerifiedToken, nowMs: number): CallerSession | undefined {
  const { session_id, key_id, expires_at_ms, last_date_ms, last_seen_at_ms } = row;
  // Another process has revoked the key: stop signing with it.
  if (key_id === null) keyRing().refreshInBackground(nowMs, 0);
  if (session_id === null || expires_at_ms === null || key_id === null) return undefined;
  const endsAtMs = recordSessionUse(session_id, { expires_at_ms, last_date_ms, last_seen_at_ms }, nowMs);
  return { ...token, kind: readKind(row), endsAtMs };
}

type Named = { subject: string; sessionId: string; keyId?: string | undefined; nowMs: number };

/** The account, with null for a session that has expired and a key that was revoked. */
type CallerRow = Tables["accounts"] &
  Record<keyof Used, number | null> &
  Record<"barred_id" | "ended_id" | "session_id" | "key_id" | "kind" | "client_hash", string | null> &
  Pick<Tables["local_sessions"], "network" | "renewed_from"> & {
    plans_version: string;
  };

type Asked = Required<Named> & { place: number };

type Waiting = {
  named: Named;
  resolve: (row: CallerRow | undefined) => void;
  reject: (failure: unknown) => void;
};

const batches = new WeakMap<Db, Waiting[]>();

/**
 * Reads the account, and whether its session, the token's key and the user at Clerk are still valid. A token of Clerk's
 * has no key and none of our sessions. Reads that come together become one query, because a query's overhead is that of many
 * rows. Every caller gets data that was read after its call.
 *
 * If the query fails, it fails for the whole batch, so pass only values that a client cannot make up.
 */
export function readCaller(db: Db, named: Named): Promise<CallerRow | undefined> {
  const waiting = batches.get(db) ?? [];
  batches.set(db, waiting);
  return new Promise((resolve, reject) => {
    waiting.push({ named, resolve, reject });
    if (waiting.length === 1) collect(db, waiting, performance.now() + collectedForMs);
  });
}

const collectedForMs = 1;

/** Waits for a turn of the event loop that brings no other reads: what came together begins in several (`http/rounds.ts`). */
function collect(db: Db, waiting: Waiting[], untilMs: number): void {
  const before = waiting.length;
  setImmediate(() => {
    if (waiting.length > before && performance.now() < untilMs) collect(db, waiting, untilMs);
    else void execute(db, waiting.splice(0));
  });
}

async function execute(db: Db, together: readonly Waiting[]): Promise<void> {
  try {
    if (db.isTransaction)
      await lockSessions(
        db,
        together.map(({ named }) => named.sessionId),
      );
    const asked = together.map(({ named: { subject, sessionId, keyId, nowMs } }, place) => [
      place,
      subject,
      sessionId,
      keyId,
      nowMs,
    ]);
    const { rows } = await readCallers(db, JSON.stringify(asked));
    for (const row of rows) together[row.place]?.resolve(row);
    // All other reads found no row; resolving a promise a second time has no effect.
    for (const { resolve } of together) resolve(undefined);
  } catch (failure) {
    for (const { reject } of together) reject(failure);
  }
}

const lockSessions = frequentStatement((db, ids: readonly string[]) =>
  db.selectFrom("local_sessions").select("id").where("id", "in", listOf(db, ids)).orderBy("id").forShare(),
);

/** Names its columns, because one that is added later must not change its result. */
const readCallers = frequentStatement((db, inputs: string) => {
  const list = isPostgres(db)
    ? sql`json_array_elements(${inputs}) as list (value)`
    : sql`json_each(${inputs})`;
  const asked = sql<Asked>`(select cast(value ->> 0 as bigint) as place, value ->> 1 as subject,
    value ->> 2 as "sessionId", value ->> 3 as "keyId", cast(value ->> 4 as bigint) as "nowMs" from ${list})`;
  return db
    .selectFrom(asked.as("asked"))
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
    .select(["session.last_date_ms", "session.network", "session.renewed_from"])
    .select(sql<string>`(select version from plan_versions)`.as("plans_version"));
});
