import type { AdapterPayload } from "oidc-provider";
import { readEnding, wordsForApp } from "@/lib/auth/sessions/ended-app";
import { approvedKind } from "@/lib/auth/sessions/session";
import { changeSessions } from "@/lib/auth/sessions/session-changes";
import { endSession } from "@/lib/auth/sessions/session-end";
import { warnOwner } from "@/lib/auth/sessions/session-network";
import { type NewSession, startSession } from "@/lib/auth/sessions/session-start";
import { endsFrom, oauthSeconds } from "@/lib/config/lifetimes";
import { auditedTransaction } from "@/lib/db/audit";
import { type Db, store } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { appEndLeadMs } from "@/lib/mail/kinds/apps";
import { extendRegisteredClient } from "@/lib/oauth/registered-clients";
import { hashSecret } from "@/lib/runtime/secret";

const prefix = "sess_";

/** The id of the session that belongs to a grant. */
export function appSessionId(grantId: string): string {
  return prefix + grantId;
}

/** The grant to which an app's session belongs. */
export function grantOfSession(sessionId: string): string {
  return sessionId.slice(prefix.length);
}

export type NewApp = Omit<NewSession, "kind" | keyof ReturnType<typeof appEndsFrom> | "mail">;

/** Starts the session of an app that the owner has approved. The authorization server mints its tokens. */
export function startAppSession(db: Db, app: NewApp, nowMs: number): Promise<void> {
  const mail = { kind: "new app" } as const;
  const session = { ...app, kind: "app", ...appEndsFrom(nowMs), mail };
  return startSession(db, { by: "app", what: "app begin" }, session, nowMs);
}

/** Stores that the owner has approved an app, for as long as it can take to get its code or its tokens. */
export function approveApp(db: Db, app: NewApp, email: string, nowMs: number): Promise<unknown> {
  const expires_at_ms = nowMs + oauthSeconds.request * 1000;
  const readState = async (_: Db, approved: unknown = null) => approved;
  const about = { by: "owner", what: "app approve", whom: email, readState } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const approved = { ...app, kind: approvedKind, expires_at_ms };
    await transaction.insertInto("local_sessions").values(approved).execute();
    return { name: app.name, origin: app.app_origin };
  });
}

/**
 * Starts the session of a grant if its app was only approved so far, and keeps the grant as long. An app that gets neither
 * a code nor tokens is never said to be connected.
 */
export async function beginAppSession(transaction: Db, grantId: string, nowMs: number): Promise<void> {
  const approved = await transaction
    .selectFrom("local_sessions")
    .select(["id", "account_id", "name", "app_origin", "begun_in", "network", "clerk_session"])
    .where("id", "=", appSessionId(grantId))
    .where("kind", "=", approvedKind)
    .where("expires_at_ms", ">", nowMs)
    .forUpdate()
    .executeTakeFirst();
  if (!approved) return;
  await startAppSession(transaction, { ...approved, name: approved.name ?? "An app" }, nowMs);
  await transaction
    .updateTable("connect_state")
    .set({ expires_at_ms: nowMs + oauthSeconds.grant * 1000 })
    .where("kind", "=", "Grant")
    .where("id_hash", "=", hashSecret("connect", grantId))
    .execute();
}

/** The ends of an app whose owner says their last word now, and when the mail about the last date is due. */
export function appEndsFrom(nowMs: number) {
  const ends = endsFrom("app", nowMs);
  return { ...ends, end_mail_at_ms: ends.last_date_ms - appEndLeadMs };
}

/** Why an app's session ends, as the audit says it: the app revoked a token, or used one that was used before. */
export type AppEnd = "app end" | "app replay";

/** Ends the session of a grant, so that all its tokens are refused. Its owner gets a mail about a replay. */
export function endAppSession(db: Db, grantId: string, what: AppEnd, nowMs: number): Promise<void> {
  const id = appSessionId(grantId);
  return transact(db, async (transaction) => {
    if (what === "app replay") await warnOwner(transaction, id, "replayed app", nowMs);
    await endSession(transaction, { by: "app", what }, id, nowMs);
  });
}

/** Notes that an app's tokens are bound to its key from now on. */
export async function recordKey(transaction: Db, grantId: string, nowMs: number): Promise<void> {
  await transaction
    .updateTable("local_sessions")
    .set({ bound_at_ms: nowMs })
    .where("id", "=", appSessionId(grantId))
    .where("bound_at_ms", "is", null)
    .execute();
}

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
