import { createHash, randomBytes } from "node:crypto";
import { keyRing } from "@/lib/session/key-ring";
import { type MintedToken, mintSessionToken } from "@/lib/session/session-token";
import { settings } from "@/lib/settings/settings";
import type { Db } from "@/lib/store/store";
import type { Tables } from "@/lib/store/tables";

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

/** How long the `__session` of a browser is good for; an open page renews it before. */
export const sessionTokenSeconds = 60;
/** How long a browser stays signed in: as long as Clerk's sessions by default. */
export const browserSessionSeconds = 7 * 24 * 60 * 60; // 7 days

/** How long the session of a program lasts, and its token: long enough to reach its next check. */
export const programTokenSeconds = 60 * 60; // 1 hour

/** A subject for an account that Clerk does not name. */
export function mintLocalSubject(): string {
  return `user_${randomBytes(16).toString("hex")}`;
}

/** Starts the session of a browser. Answers the secret that renews it, which is stored nowhere. */
export async function startBrowserSession(
  db: Db,
  { accountId, name }: { accountId: string; name: string },
  nowMs: number,
): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  await startSession(
    db,
    {
      ...{ id: mintSessionId(), account_id: accountId, kind: "browser", name, made_in: null },
      ...{ expires_at_ms: nowMs + browserSessionSeconds * 1000, client_hash: hashSecret(secret) },
    },
    nowMs,
  );
  return secret;
}

/** The session that this secret renews; `undefined` when it is over. */
export async function findBrowserSession(db: Db, secret: string, nowMs: number) {
  return db
    .selectFrom("local_sessions")
    .innerJoin("accounts", "accounts.id", "local_sessions.account_id")
    .select(["local_sessions.id as sessionId", "local_sessions.expires_at_ms as endsAtMs"])
    .select(["accounts.id as accountId", "accounts.subject"])
    .where("local_sessions.client_hash", "=", hashSecret(secret))
    .where("local_sessions.expires_at_ms", ">", nowMs)
    .executeTakeFirst();
}

/** A new `__session` for whoever holds this secret; `undefined` when its session is over. */
export async function renewBrowserSession(
  db: Db,
  secret: string,
  nowMs: number,
): Promise<MintedToken | undefined> {
  const session = await findBrowserSession(db, secret, nowMs);
  if (!session?.subject) return undefined;
  const { subject, sessionId } = session;
  const endsAtMs = Math.min(nowMs + sessionTokenSeconds * 1000, session.endsAtMs);
  const terms = { subject, sessionId, origin: settings().appUrl, endsAtMs };
  return mintSessionToken(terms, await keyRing().signing(nowMs), nowMs);
}

/**
 * Starts a program's session, and mints its only token: good for an hour, and no longer than the browser's session
 * that it was made in, with which it ends.
 */
export async function startProgramSession(
  db: Db,
  account: { id: string; subject: string },
  { name, madeIn }: { name: string; madeIn?: { sessionId: string; endsAtMs: number } | undefined },
  nowMs: number,
): Promise<MintedToken> {
  const endsAtMs = Math.min(nowMs + programTokenSeconds * 1000, madeIn?.endsAtMs ?? Number.POSITIVE_INFINITY);
  const id = mintSessionId();
  const terms = { subject: account.subject, sessionId: id, endsAtMs };
  const minted = mintSessionToken(terms, await keyRing().signing(nowMs), nowMs);
  await startSession(
    db,
    {
      ...{ id, account_id: account.id, kind: "program", name, made_in: madeIn?.sessionId ?? null },
      ...{ expires_at_ms: minted.expiresAtMs, client_hash: null },
    },
    nowMs,
  );
  return minted;
}

/** Starts the session of an app that the owner has let in; the authorization server mints its tokens. */
export async function startAppSession(
  db: Db,
  { id, accountId, name, endsAtMs }: { id: string; accountId: string; name: string; endsAtMs: number },
  nowMs: number,
): Promise<void> {
  await startSession(
    db,
    {
      ...{ id, account_id: accountId, kind: "app", name, made_in: null },
      ...{ expires_at_ms: endsAtMs, client_hash: null },
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

/** Ends the sessions that hold these secrets: from now on nothing renews them, and their tokens are refused. */
export async function endBrowserSessions(db: Db, secrets: readonly string[]): Promise<void> {
  if (secrets.length === 0) return;
  await db.deleteFrom("local_sessions").where("client_hash", "in", secrets.map(hashSecret)).execute();
}

/** Ends the session of this id, and what was made in it. */
export async function endSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom("local_sessions").where("id", "=", id).execute();
}

/** Ends sessions of an account: one, all, or all but one. Answers whether there was any. */
export async function endSessionsOf(
  db: Db,
  accountId: string,
  which: "all" | { id: string } | { allBut: string },
): Promise<boolean> {
  let ending = db.deleteFrom("local_sessions").where("account_id", "=", accountId);
  if (which !== "all") {
    ending = "id" in which ? ending.where("id", "=", which.id) : ending.where("id", "!=", which.allBut);
  }
  return (await ending.returning("id").execute()).length > 0;
}

/** A build before this one wrote no kind. */
export function readKind(row: Pick<Tables["local_sessions"], "kind" | "client_hash">): SessionKind {
  return sessionKinds.find((kind) => kind === row.kind) ?? (row.client_hash === null ? "program" : "browser");
}

type NewSession = Omit<Tables["local_sessions"], "begun_at_ms" | "last_seen_at_ms">;

/** Every start sweeps out the sessions that are over. */
async function startSession(db: Db, session: NewSession, nowMs: number): Promise<void> {
  await db.deleteFrom("local_sessions").where("expires_at_ms", "<=", nowMs).execute();
  await db
    .insertInto("local_sessions")
    .values({ ...session, begun_at_ms: nowMs, last_seen_at_ms: null })
    .execute();
}

function mintSessionId(): string {
  return `sess_${randomBytes(16).toString("hex")}`;
}

/** The secret has 256 random bits, so a plain hash is as good as a slow one. */
function hashSecret(secret: string): string {
  return createHash("sha256").update(`corner-office:client:v1:${secret}`).digest("base64url");
}
