import { decodeJwt } from "jose";
import { verifyToken } from "@/lib/auth/tokens/verifier";
import { store } from "@/lib/db/store";
import { endAppSession, grantOfSession } from "@/lib/oauth/app-session";

/**
 * Revokes an access token (RFC 7009 §2.1), which the library refuses to: it is valid as long as the session of its app, so
 * that ends. Some apps revoke it first, and nothing else once they are refused.
 *
 * @returns whether it is of no use any more, as one that was invalid before; false for one of another client
 */
export async function revokeAccessToken(
  token: string,
  clientId: string | null,
  nowMs: number,
): Promise<boolean> {
  const verified = await verifyToken(token, nowMs);
  if (!verified) return true;
  if (decodeJwt(token).client_id !== clientId) return false;
  await endAppSession(await store(), grantOfSession(verified.sessionId), "app end", nowMs);
  return true;
}
