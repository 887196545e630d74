import { randomBytes, sign } from "node:crypto";
import { localIssuerKey } from "@/lib/sign-in/issuer";
import type { Db } from "@/lib/store/store";

const programTokenSeconds = 60 * 60; // 1 hour, so that a program reaches its next check

/** A subject for an account that Clerk does not name. */
export function mintLocalSubject(): string {
  return `user_${randomBytes(16).toString("hex")}`;
}

/** Starts a session of local sign-in and mints the token that a program is given: one hour, no `azp`. */
export async function mintProgramToken(
  db: Db,
  account: { id: string; subject: string },
  nowMs: number,
): Promise<{ token: string; expiresAtMs: number }> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const expiresAtSeconds = nowSeconds + programTokenSeconds;
  const sessionId = `sess_${randomBytes(16).toString("hex")}`;
  await db
    .insertInto("local_sessions")
    .values({ id: sessionId, account_id: account.id, expires_at_ms: expiresAtSeconds * 1000 })
    .execute();
  const claims = {
    sub: account.subject,
    sid: sessionId,
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: expiresAtSeconds,
  };
  return { token: signToken(claims), expiresAtMs: expiresAtSeconds * 1000 };
}

/** A token with Clerk's claims, signed by the local issuer (RFC 7515, RS256). */
function signToken(claims: Record<string, unknown>): string {
  const { name, privateKey } = localIssuerKey();
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode({ alg: "RS256", typ: "JWT" })}.${encode({ iss: name, ...claims })}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}
