import { changeSessions } from "@/lib/auth/sessions/session-changes";
import { oauthSeconds } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import { appEndsFrom, grantOfSession } from "@/lib/oauth/app-session";
import { extendRegisteredClient } from "@/lib/oauth/registered-clients";
import { hashSecret } from "@/lib/runtime/secret";

/**
 * Gives all apps of an account another 180 days, as their owner asks in the browser, in one transaction: their sessions,
 * grants, refresh tokens, because an app that rests has an old one, and registrations. Returns whether there was any.
 */
export function keepApps(db: Db, accountId: string, nowMs: number): Promise<boolean> {
  return changeSessions(db, { by: "owner", what: "app keep", accountId }, nowMs, async (transaction) => {
    const kept = await transaction
      .updateTable("local_sessions")
      .set(appEndsFrom(nowMs))
      .where("account_id", "=", accountId)
      .where("kind", "=", "app")
      .where("expires_at_ms", ">", nowMs)
      .where("ended_as", "is", null)
      .returning("id")
      .execute();
    for (const { id } of kept) await keepGrant(transaction, grantOfSession(id), nowMs);
    return kept.length > 0;
  });
}

async function keepGrant(transaction: Db, grantId: string, nowMs: number): Promise<void> {
  const extend = (kind: "RefreshToken" | "Grant", lifetimeSeconds: number) =>
    transaction
      .updateTable("connect_state")
      .set({ expires_at_ms: nowMs + lifetimeSeconds * 1000 })
      .where("kind", "=", kind);
  await extend("RefreshToken", oauthSeconds.refreshToken).where("grant_id", "=", grantId).execute();
  const grant = await extend("Grant", oauthSeconds.grant)
    .where("id_hash", "=", hashSecret("connect", grantId))
    .returning("payload")
    .executeTakeFirst();
  if (grant) await extendRegisteredClient(transaction, JSON.parse(grant.payload).clientId, nowMs);
}
