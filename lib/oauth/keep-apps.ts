import { hashSecret } from "@/lib/auth/secret";
import { currentSessions } from "@/lib/auth/session";
import { asIso } from "@/lib/config/instants";
import { endsFrom } from "@/lib/config/session-lifetimes";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { endMailAtMs, grantOfSession } from "@/lib/oauth/app-session";
import { extendRegisteredClient } from "@/lib/oauth/registered-clients";
import { lifetimes } from "@/lib/oauth/token-lifetimes";

/**
 * Gives all apps of an account another 180 days, as their owner asks in the browser, in one transaction: their sessions,
 * grants, refresh tokens, because an app that rests has an old one, and registrations. Returns whether there was any.
 */
export function keepApps(db: Db, account: { id: string; email: string }, nowMs: number): Promise<boolean> {
  const apps = (transaction: Db) =>
    currentSessions(transaction, nowMs).where("account_id", "=", account.id).where("kind", "=", "app");
  const readState = async (transaction: Db) => {
    const rows = await apps(transaction).execute();
    return Object.fromEntries(
      rows.map(({ id, name, lastDateMs }) => [id, { name, lastDate: asIso(lastDateMs) }]),
    );
  };
  const about = { by: "owner", what: "app keep", whom: account.email, readState } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const kept = await transaction
      .updateTable("local_sessions")
      .set({ ...endsFrom("app", nowMs), end_mail_at_ms: endMailAtMs(nowMs) })
      .where("id", "in", apps(transaction).clearSelect().clearOrderBy().select("id"))
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
  await extend("RefreshToken", lifetimes.refreshToken).where("grant_id", "=", grantId).execute();
  const grant = await extend("Grant", lifetimes.grant)
    .where("id_hash", "=", hashSecret("connect", grantId))
    .returning("payload")
    .executeTakeFirst();
  if (grant) await extendRegisteredClient(transaction, JSON.parse(grant.payload).clientId, nowMs);
}
