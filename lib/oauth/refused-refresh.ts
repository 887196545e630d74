import type { AdapterPayload } from "oidc-provider";
import { type Ending, readEnding } from "@/lib/auth/ended-app";
import { sessionDays } from "@/lib/config/lifetimes";
import { store } from "@/lib/db/store";
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
  return `${endingWords[readEnding(session)]} Ask the owner to connect it again.`;
}
