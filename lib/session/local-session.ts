import { createHash, randomBytes, sign } from "node:crypto";
import { localIssuerKey } from "@/lib/session/issuer";
import { settings } from "@/lib/settings/settings";
import type { Db } from "@/lib/store/store";

/** How long the `__session` of a browser is good for; an open page renews it before. */
export const sessionTokenSeconds = 60;
/** How long a browser stays signed in: as long as Clerk's sessions by default. */
export const browserSessionSeconds = 7 * 24 * 60 * 60; // 7 days
export const programTokenSeconds = 60 * 60; // 1 hour, so that a program reaches its next check

/** A token and the instant it ends at, Unix milliseconds. */
export type MintedToken = { token: string; expiresAtMs: number };

/** A subject for an account that Clerk does not name. */
export function mintLocalSubject(): string {
  return `user_${randomBytes(16).toString("hex")}`;
}

/** Starts the session of a browser. Answers the secret that renews it, which is stored nowhere. */
export async function startBrowserSession(db: Db, accountId: string, nowMs: number): Promise<string> {
  const client = randomBytes(32).toString("base64url");
  await db.deleteFrom("local_sessions").where("expires_at_ms", "<=", nowMs).execute();
  await db
    .insertInto("local_sessions")
    .values({
      id: mintSessionId(),
      account_id: accountId,
      expires_at_ms: nowMs + browserSessionSeconds * 1000,
      client_hash: hashClient(client),
    })
    .execute();
  return client;
}

/** A new `__session` for whoever holds this secret; `undefined` when its session is over. */
export async function renewBrowserSession(
  db: Db,
  client: string,
  nowMs: number,
): Promise<MintedToken | undefined> {
  const session = await db
    .selectFrom("local_sessions")
    .innerJoin("accounts", "accounts.id", "local_sessions.account_id")
    .select(["local_sessions.id", "accounts.subject"])
    .where("local_sessions.client_hash", "=", hashClient(client))
    .where("local_sessions.expires_at_ms", ">", nowMs)
    .executeTakeFirst();
  if (!session?.subject) return undefined;
  const { appUrl } = settings();
  return mintToken({ sub: session.subject, sid: session.id, azp: appUrl }, sessionTokenSeconds, nowMs);
}

/** Ends the session of a browser: from now on nothing renews it, and its tokens are refused. */
export async function endBrowserSession(db: Db, client: string): Promise<void> {
  await db.deleteFrom("local_sessions").where("client_hash", "=", hashClient(client)).execute();
}

/** Starts a session without a browser and mints the token that a program is given. */
export async function startProgramSession(
  db: Db,
  account: { id: string; subject: string },
  nowMs: number,
): Promise<MintedToken> {
  const id = mintSessionId();
  const minted = mintProgramToken({ subject: account.subject, sessionId: id }, nowMs);
  await db
    .insertInto("local_sessions")
    .values({ id, account_id: account.id, expires_at_ms: minted.expiresAtMs, client_hash: null })
    .execute();
  return minted;
}

/** The token that a program is given: one hour, no `azp`, and over when its session is. */
export function mintProgramToken(
  { subject, sessionId }: { subject: string; sessionId: string },
  nowMs: number,
): MintedToken {
  return mintToken({ sub: subject, sid: sessionId }, programTokenSeconds, nowMs);
}

/** A token with Clerk's claims, signed by the local issuer (RFC 7515, RS256). */
function mintToken(
  claims: { sub: string; sid: string; azp?: string },
  seconds: number,
  nowMs: number,
): MintedToken {
  const { name, privateKey } = localIssuerKey();
  const nowSeconds = Math.floor(nowMs / 1000);
  const times = { iat: nowSeconds, nbf: nowSeconds, exp: nowSeconds + seconds };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode({ alg: "RS256", typ: "JWT" })}.${encode({ iss: name, ...claims, ...times })}`;
  const signature = sign("sha256", Buffer.from(signed), privateKey).toString("base64url");
  return { token: `${signed}.${signature}`, expiresAtMs: times.exp * 1000 };
}

function mintSessionId(): string {
  return `sess_${randomBytes(16).toString("hex")}`;
}

/** The secret has 256 random bits, so a plain hash is as good as a slow one. */
function hashClient(client: string): string {
  return createHash("sha256").update(`corner-office:client:v1:${client}`).digest("base64url");
}
