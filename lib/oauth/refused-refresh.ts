import type { AdapterPayload } from "oidc-provider";
import { readEnding, wordsForApp } from "@/lib/auth/sessions/ended-app";
import { store } from "@/lib/db/store";
import { appSessionId } from "@/lib/oauth/app-session";

/**
 * Why the session has ended of the refresh token that a client sent, in words for it; `undefined` if there is no token, it
 * is another client's, or its session has not ended.
 */
export async function describeEnd(
  sent: AdapterPayload | undefined,
  clientId: string | null,
): Promise<string | undefined> {
  if (sent?.kind !== "RefreshToken" || !sent.grantId || sent.clientId !== clientId) return undefined;
  const db = await store();
  const session = await db
    .selectFrom("local_sessions")
    .select(["ended_as", "expires_at_ms", "last_date_ms"])
    .where("id", "=", appSessionId(sent.grantId))
    .executeTakeFirst();
  if (!session || (session.ended_as === null && session.expires_at_ms > Date.now())) return undefined;
  return `${wordsForApp[readEnding(session)]} Ask the owner to connect it again.`;
}
