import type { Insertable } from "kysely";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { endedApps } from "@/lib/auth/sessions/ended-app";
import { mintSessionId, programTokenSeconds } from "@/lib/auth/sessions/session";
import { type AuditSource, changeInTurn, inTurn } from "@/lib/auth/sessions/session-changes";
import { makeRoom, maxSessions } from "@/lib/auth/sessions/session-limit";
import { nameToken } from "@/lib/auth/sessions/session-name";
import { mintSessionToken } from "@/lib/auth/tokens/session-token";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { enqueueMail } from "@/lib/mail/outbox/outbox";

export type NewSession = Omit<
  Insertable<Tables["local_sessions"]>,
  "confirmed_at_ms" | "begun_at_ms" | "begun_by"
> & {
  name: string;
  mail?: { kind: "new browser" | "new app"; id?: string | undefined } | undefined;
};

/**
 * Starts a session, an app's in the place of its approval, and deletes those of the account that have expired, except the
 * apps that ended last. Where the account has its most sessions, another one ends for it.
 */
export function startSession(db: Db, source: AuditSource, session: NewSession, nowMs: number): Promise<void> {
  return inTurn(db, session.account_id, (transaction, email) => {
    // Erased or deleted since the caller read it.
    if (email === undefined) throw new ApiError("signed_out");
    return startInTurn(transaction, { ...source, email }, session, nowMs);
  });
}

/** The same in the caller's turn. */
export async function startInTurn(
  transaction: Db,
  { by, what, email }: AuditSource & { email: string },
  { mail, ...session }: NewSession,
  nowMs: number,
): Promise<void> {
  const account = { id: session.account_id, email };
  const confirmed_at_ms = session.confirmed_by ? nowMs : null;
  const row = { ...session, confirmed_at_ms, begun_at_ms: nowMs, begun_by: by };
  const sessions = await makeRoom(transaction, account, nowMs);
  await changeInTurn(transaction, { by, what, account, sessions }, nowMs, async (transaction) => {
    await deleteExpiredOf(transaction, account.id, nowMs);
    await transaction
      .insertInto("local_sessions")
      .values(row)
      .onConflict((approved) => approved.column("id").doUpdateSet(row))
      .execute();
    if (!mail) return;
    const { name, app_origin: origin } = session;
    const about = { kind: mail.kind, to: email, name, origin, atMs: nowMs };
    await enqueueMail(transaction, about, { id: mail.id, nowMs });
  });
}

async function deleteExpiredOf(transaction: Db, accountId: string, nowMs: number): Promise<void> {
  const kept = endedApps(transaction, accountId, nowMs).clearSelect().select("id").limit(maxSessions);
  await transaction
    .deleteFrom("local_sessions")
    .where("account_id", "=", accountId)
    .where("expires_at_ms", "<=", nowMs)
    .where("id", "not in", kept)
    .execute();
}

type NewProgram = Partial<Pick<NewSession, "begun_in" | "network" | "clerk_session">> & {
  by: "owner" | "operator";
  madeIn?: { sessionId: string; endsAtMs: number } | undefined;
};

/**
 * Starts a program's session and mints its only token, which is valid for an hour. It ends early if the browser session
 * that it was made in ends.
 */
export async function startProgramSession(
  db: Db,
  account: { id: string; subject: string },
  { by, madeIn, ...program }: NewProgram,
  nowMs: number,
): Promise<{ token: string; expiresAt: string }> {
  const endsAtMs = Math.min(nowMs + programTokenSeconds * 1000, madeIn?.endsAtMs ?? Number.POSITIVE_INFINITY);
  const id = mintSessionId();
  const terms = { subject: account.subject, sessionId: id, endsAtMs };
  const { token, expiresAtMs } = await mintSessionToken(terms, await requireSigningKey(nowMs), nowMs);
  const ends = { made_in: madeIn?.sessionId ?? null, expires_at_ms: expiresAtMs };
  const name = nameToken(by, nowMs);
  const session = { ...program, id, account_id: account.id, kind: "program", name, ...ends };
  await startSession(db, { by, what: "token" }, session, nowMs);
  return { token, expiresAt: new Date(expiresAtMs).toISOString() };
}
