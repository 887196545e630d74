import { type Ending, readEnding } from "@/lib/auth/ended-app";
import { hashSecret } from "@/lib/auth/secret";
import { sessionDays } from "@/lib/config/session-lifetimes";
import type { Db } from "@/lib/db/store";
import { appSessionId } from "@/lib/oauth/app-session";

/** Each reason, for the developer or the agent that reads it, in the characters of RFC 6749 §5.2. */
const endingWords: Record<Ending, string> = {
  owner: "The owner ended this access.",
  operator: "The operator ended this access.",
  app: "The app ended this access itself.",
  "sign-in": "This access ended with the sign-in in which the owner approved it.",
  replay: "A refresh token was used twice, so someone else may have a copy, and this access has ended.",
  limit: "This access ended to make room for a newer session of the account.",
  idle: `This access was not used for ${sessionDays.idle} days.`,
  "last date": `The ${sessionDays.app} days of this access are over.`,
};

/**
 * Why the session has ended of the refresh token in these fields, in words for the client that sends them; `undefined` if
 * there is no token, it is not ours or another client's, or its session has not ended.
 */
export async function describeRefusedRefresh(
  db: Db,
  fields: URLSearchParams,
  nowMs: number,
): Promise<string | undefined> {
  const refreshToken = fields.get("refresh_token");
  if (!refreshToken) return undefined;
  const token = await db
    .selectFrom("connect_state")
    .select(["grant_id", "payload"])
    .where("kind", "=", "RefreshToken")
    .where("id_hash", "=", hashSecret("connect", refreshToken))
    .where("expires_at_ms", ">", nowMs)
    .executeTakeFirst();
  if (!token?.grant_id || JSON.parse(token.payload).clientId !== fields.get("client_id")) return undefined;
  const session = await db
    .selectFrom("local_sessions")
    .select(["ended_as", "expires_at_ms", "last_date_ms"])
    .where("id", "=", appSessionId(token.grant_id))
    .executeTakeFirst();
  if (!session || (session.ended_as === null && session.expires_at_ms > nowMs)) return undefined;
  return `${endingWords[readEnding(session)]} Ask the owner to connect it again.`;
}
