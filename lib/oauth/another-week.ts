import type { Db } from "@/lib/db/store";
import { OAuthState } from "@/lib/oauth/adapter";
import { extendAppSession, grantOfSession } from "@/lib/oauth/app-session";
import { lifetimes } from "@/lib/oauth/lifetimes";
import { RegisteredClients } from "@/lib/oauth/registered-clients";

/** Gives an app another week from now, as its owner asks in the browser. Returns false if its session has ended. */
export async function giveAnotherWeek(
  db: Db,
  account: { id: string; email: string },
  sessionId: string,
  nowMs: number,
): Promise<boolean> {
  const endsAtMs = nowMs + lifetimes.session * 1000;
  if (!(await extendAppSession(db, account, { id: sessionId, endsAtMs }, nowMs))) return false;
  const grants = new OAuthState("Grant");
  const grantId = grantOfSession(sessionId);
  const grant = await grants.find(grantId);
  if (!grant) return true;
  const exp = Math.floor(endsAtMs / 1000);
  await grants.upsert(grantId, { ...grant, exp }, lifetimes.session);
  await extendRefreshTokens(db, grantId, exp);
  await new RegisteredClients().extend(String(grant.clientId), lifetimes.usedClient);
  return true;
}

/** Extends the refresh tokens of a grant, because an app that rests for days has an old one. */
async function extendRefreshTokens(db: Db, grantId: string, exp: number): Promise<void> {
  const tokens = await db
    .selectFrom("connect_state")
    .select(["id_hash", "payload"])
    .where("kind", "=", "RefreshToken")
    .where("grant_id", "=", grantId)
    .execute();
  for (const { id_hash, payload } of tokens) {
    await db
      .updateTable("connect_state")
      .set({ payload: JSON.stringify({ ...JSON.parse(payload), exp }), expires_at_ms: exp * 1000 })
      .where("kind", "=", "RefreshToken")
      .where("id_hash", "=", id_hash)
      .where("payload", "=", payload)
      .execute();
  }
}
