import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { extendAppSession, grantOfSession } from "@/lib/oauth/app-session";
import { hash } from "@/lib/oauth/id-hash";
import { lifetimes } from "@/lib/oauth/lifetimes";
import { extendRegisteredClient } from "@/lib/oauth/registered-clients";

/**
 * Gives an app another week from now, as its owner asks in the browser, in one transaction: its session, its grant, its
 * refresh tokens, because an app that rests for days has an old one, and its registration. Returns false if its session
 * has ended.
 */
export function giveAnotherWeek(
  db: Db,
  account: { id: string; email: string },
  sessionId: string,
  nowMs: number,
): Promise<boolean> {
  const endsAtMs = nowMs + lifetimes.session * 1000;
  const grantId = grantOfSession(sessionId);
  return transact(db, async (transaction) => {
    if (!(await extendAppSession(transaction, account, { id: sessionId, endsAtMs }, nowMs))) return false;
    const extended = transaction.updateTable("connect_state").set({ expires_at_ms: endsAtMs });
    await extended.where("kind", "=", "RefreshToken").where("grant_id", "=", grantId).execute();
    const grant = await extended
      .where("kind", "=", "Grant")
      .where("id_hash", "=", hash(grantId))
      .returning("payload")
      .executeTakeFirst();
    if (grant) await extendRegisteredClient(transaction, JSON.parse(grant.payload).clientId, nowMs);
    return true;
  });
}
