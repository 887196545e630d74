import { randomBytes } from "node:crypto";
import { keyRing } from "@/lib/auth/key-ring";
import { type MintedToken, mintSessionToken } from "@/lib/auth/session-token";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** A session that we keep. Under Clerk those of browsers are Clerk's own. */
export type Session = {
  id: string;
  /** A browser's renews its token, a program's is over with it; an app's renews it at the authorization server. */
  kind: SessionKind;
  /** By which its owner knows it. */
  name: string;
  /** None of a session that an older build began. */
  begunAtMs: number | null;
  /** To an hour; none while it was not seen. */
  lastSeenAtMs: number | null;
  /** From this instant on it is over. */
  endsAtMs: number;
};

const sessionKinds = ["browser", "program", "app"] as const;
export type SessionKind = (typeof sessionKinds)[number];

/** How long the session of a program lasts, and its token: long enough to reach its next check. */
export const programTokenSeconds = 60 * 60; // 1 hour

/** A subject for an account that Clerk does not name. */
export function mintLocalSubject(): string {
  return `user_${randomBytes(16).toString("hex")}`;
}

type NewProgram = {
  /** Who is handed its token. */
  by: "owner" | "operator";
  name: string;
  madeIn?: { sessionId: string; endsAtMs: number } | undefined;
  clerkSession?: string | undefined;
};

/**
 * Starts a program's session, and mints its only token: good for an hour, and no longer than the browser's session
 * that it was made in, with which it ends.
 */
export async function startProgramSession(
  db: Db,
  account: { id: string; subject: string },
  { by, name, madeIn, clerkSession }: NewProgram,
  nowMs: number,
): Promise<MintedToken> {
  const endsAtMs = Math.min(nowMs + programTokenSeconds * 1000, madeIn?.endsAtMs ?? Number.POSITIVE_INFINITY);
  const id = mintSessionId();
  const terms = { subject: account.subject, sessionId: id, endsAtMs };
  const minted = await mintSessionToken(terms, await keyRing().signing(nowMs), nowMs);
  await startSession(
    db,
    { by, what: "token" },
    {
      id,
      account_id: account.id,
      kind: "program",
      name,
      made_in: madeIn?.sessionId ?? null,
      expires_at_ms: minted.expiresAtMs,
      client_hash: null,
      clerk_session: clerkSession ?? null,
    },
    nowMs,
  );
  return minted;
}

type NewApp = {
  id: string;
  accountId: string;
  name: string;
  endsAtMs: number;
  /** In which its owner let it in. */
  clerkSession?: string | undefined;
};

/** Starts the session of an app that the owner has let in; the authorization server mints its tokens. */
export async function startAppSession(
  db: Db,
  { id, accountId, name, endsAtMs, clerkSession }: NewApp,
  nowMs: number,
): Promise<void> {
  await startSession(
    db,
    { by: "owner", what: "app approve" },
    {
      id,
      account_id: accountId,
      kind: "app",
      name,
      made_in: null,
      expires_at_ms: endsAtMs,
      client_hash: null,
      clerk_session: clerkSession ?? null,
    },
    nowMs,
  );
}

/** The instant at which a session is over, Unix milliseconds; `undefined` when it is already. */
export async function findSessionEnd(db: Db, id: string, nowMs: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("local_sessions")
    .select("expires_at_ms")
    .where("id", "=", id)
    .where("expires_at_ms", ">", nowMs)
    .executeTakeFirst();
  return row?.expires_at_ms;
}

/** The sessions of an account that are not over, the newest first. */
export async function listSessions(db: Db, accountId: string, nowMs: number): Promise<Session[]> {
  const rows = await db
    .selectFrom("local_sessions")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("expires_at_ms", ">", nowMs)
    .orderBy("expires_at_ms", "desc")
    .execute();
  return rows
    .map((row) => {
      const kind = readKind(row);
      return {
        id: row.id,
        kind,
        name: row.name ?? (kind === "browser" ? "A browser" : "A token"),
        begunAtMs: row.begun_at_ms,
        lastSeenAtMs: row.last_seen_at_ms,
        endsAtMs: row.expires_at_ms,
      };
    })
    .sort((one, other) => (other.begunAtMs ?? 0) - (one.begunAtMs ?? 0));
}

/** Ends the session of this id, and what was made in it. */
export async function endSession(db: Db, about: About, id: string, nowMs: number): Promise<void> {
  const row = await db
    .selectFrom("local_sessions")
    .select("account_id")
    .where("id", "=", id)
    .executeTakeFirst();
  if (row) await endSessionsOf(db, about, row.account_id, { id }, nowMs);
}

/** Which sessions of an account: all, one, all but one, or those of some kinds that were made in one of Clerk's. */
export type Which =
  | "all"
  | { id: string }
  | { allBut: string }
  | { clerkSession: string; kinds: readonly SessionKind[] };

/** Ends sessions of an account. Answers whether there was any. */
export function endSessionsOf(
  db: Db,
  about: About,
  accountId: string,
  which: Which,
  nowMs: number,
): Promise<boolean> {
  return changeSessions(db, about, accountId, nowMs, async (transaction) => {
    let ending = transaction.deleteFrom("local_sessions").where("account_id", "=", accountId);
    if (which !== "all") {
      if ("id" in which) ending = ending.where("id", "=", which.id);
      else if ("allBut" in which) ending = ending.where("id", "!=", which.allBut);
      else {
        const { clerkSession, kinds } = which;
        ending = ending.where("clerk_session", "=", clerkSession).where("kind", "in", kinds);
      }
    }
    return (await ending.returning("id").execute()).length > 0;
  });
}

/** A build before this one wrote no kind. */
export function readKind(row: Pick<Tables["local_sessions"], "kind" | "client_hash">): SessionKind {
  return sessionKinds.find((kind) => kind === row.kind) ?? (row.client_hash === null ? "program" : "browser");
}

type NewSession = Omit<Tables["local_sessions"], "begun_at_ms" | "last_seen_at_ms">;

/** Every start sweeps out the sessions that are over. */
export async function startSession(db: Db, about: About, session: NewSession, nowMs: number): Promise<void> {
  await changeSessions(db, about, session.account_id, nowMs, async (transaction) => {
    await transaction.deleteFrom("local_sessions").where("expires_at_ms", "<=", nowMs).execute();
    await transaction
      .insertInto("local_sessions")
      .values({ ...session, begun_at_ms: nowMs, last_seen_at_ms: null })
      .execute();
  });
}

/** On whose word a session begins or ends, and by what. */
type About = { by: Actor; what: string };

/** Changes an account's sessions. An entry of the audit calls each by its id, and says what it is. */
async function changeSessions<T>(
  db: Db,
  about: About,
  accountId: string,
  nowMs: number,
  work: (transaction: Db) => Promise<T>,
): Promise<T> {
  const account = await db
    .selectFrom("accounts")
    .select("email")
    .where("id", "=", accountId)
    .executeTakeFirst();
  const look = async (transaction: Db) => {
    const sessions = await listSessions(transaction, accountId, nowMs);
    return Object.fromEntries(sessions.map(({ id, kind, name }) => [id, { kind, name }]));
  };
  return auditedTransaction(db, { ...about, whom: account?.email ?? accountId, look }, nowMs, work);
}

export function mintSessionId(): string {
  return `sess_${randomBytes(16).toString("hex")}`;
}
