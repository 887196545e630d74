import { createHash, randomBytes } from "node:crypto";
import { keyRing } from "@/lib/auth/key-ring";
import { endSession, mintSessionId, startSession } from "@/lib/auth/session";
import { type MintedToken, mintSessionToken } from "@/lib/auth/session-token";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";

/** How long the `__session` of a browser is good for; an open page renews it before. */
export const sessionTokenSeconds = 60;
/** How long a browser stays signed in: as long as Clerk's sessions by default. */
export const browserSessionSeconds = 7 * 24 * 60 * 60; // 7 days

/** Starts the session of a browser. Answers the secret that renews it, which is stored nowhere. */
export async function startBrowserSession(
  db: Db,
  { accountId, name }: { accountId: string; name: string },
  nowMs: number,
): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  await startSession(
    db,
    { by: "owner", what: "sign in" },
    {
      id: mintSessionId(),
      account_id: accountId,
      kind: "browser",
      name,
      made_in: null,
      expires_at_ms: nowMs + browserSessionSeconds * 1000,
      client_hash: hashSecret(secret),
      clerk_session: null,
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

/** Signs a browser out: from now on nothing renews the session that holds this secret, and its tokens are refused. */
export async function endBrowserSession(db: Db, secret: string, nowMs: number): Promise<void> {
  const found = await findBrowserSession(db, secret, nowMs);
  if (found) await endSession(db, signOut, found.sessionId, nowMs);
}

/** What {@link endBrowserSession} is, where a browser proves its session otherwise. */
export const signOut = { by: "owner", what: "sign out" } as const;

/** The secret has 256 random bits, so a plain hash is as good as a slow one. */
function hashSecret(secret: string): string {
  return createHash("sha256").update(`corner-office:client:v1:${secret}`).digest("base64url");
}
