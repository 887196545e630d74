import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { type MintedToken, mintSessionToken } from "@/lib/auth/tokens/session-token";
import { sessionDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";
import type { SentHeaders } from "@/lib/http/call";
import { readCookie } from "@/lib/http/cookies";
import { hashSecret } from "@/lib/runtime/secret";

/** Lifetime of a browser's `__session` token. An open page renews it before it expires. */
export const sessionTokenSeconds = 60;
/** How long a browser stays signed in at most, and so keeps the cookie that renews its token. */
export const browserSessionSeconds = sessionDays.browser * 24 * 60 * 60; // 90 days

/** The session that a browser is signed in with, if any. It has `formerUntilMs` if its secret was replaced just now. */
export async function findOwnSession(db: Db, headers: SentHeaders, nowMs: number) {
  const secret = readCookie(headers, "office-client");
  return secret ? findBySecret(db, secret, nowMs) : undefined;
}

async function findBySecret(db: Db, secret: string, nowMs: number) {
  const hash = hashSecret("client", secret);
  const [row] = (await readSession(db, hash, nowMs)).rows;
  if (!row) return undefined;
  const { client_hash, former_until_ms, ...session } = row;
  return { ...session, formerUntilMs: client_hash === hash ? undefined : (former_until_ms ?? 0) };
}

const readSession = frequentStatement((db, hash: string, nowMs: number) =>
  db
    .selectFrom("local_sessions")
    .innerJoin("accounts", "accounts.id", "local_sessions.account_id")
    .select(["local_sessions.id as sessionId", "local_sessions.expires_at_ms as endsAtMs", "confirmed_at_ms"])
    .select(["confirmed_by", "renewed_from", "network"])
    .select(["accounts.id as accountId", "accounts.subject", "client_hash", "former_until_ms"])
    .where(({ or, and, eb }) =>
      or([
        eb("client_hash", "=", hash),
        and([eb("former_hash", "=", hash), eb("former_until_ms", ">", nowMs)]),
      ]),
    )
    .where("local_sessions.expires_at_ms", ">", nowMs),
);

/** Mints a new `__session` token for the holder of this secret; `undefined` when the session has ended. */
export async function renewBrowserSession(
  db: Db,
  secret: string,
  nowMs: number,
): Promise<MintedToken | undefined> {
  const session = await findBySecret(db, secret, nowMs);
  if (!session?.subject) return undefined;
  const { subject, sessionId, endsAtMs, formerUntilMs = Number.POSITIVE_INFINITY } = session;
  return mintBrowserToken({ subject, sessionId, endsAtMs: Math.min(endsAtMs, formerUntilMs) }, nowMs);
}

/** Mints the `__session` token of a session that may be renewed until `endsAtMs`. */
export async function mintBrowserToken(
  session: { subject: string; sessionId: string; endsAtMs: number },
  nowMs: number,
): Promise<MintedToken> {
  const endsAtMs = Math.min(nowMs + sessionTokenSeconds * 1000, session.endsAtMs);
  const terms = { ...session, origin: settings().appUrl, endsAtMs };
  return mintSessionToken(terms, await requireSigningKey(nowMs), nowMs);
}
