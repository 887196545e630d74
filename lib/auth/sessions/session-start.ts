import type { InferResult, Insertable } from "kysely";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { endedApps } from "@/lib/auth/sessions/ended-app";
import { listSessions, mintSessionId, programTokenSeconds, type Session } from "@/lib/auth/sessions/session";
import { type AuditSource, changeInTurn, inTurn } from "@/lib/auth/sessions/session-changes";
import { endRows } from "@/lib/auth/sessions/session-end";
import { nameToken } from "@/lib/auth/sessions/session-name";
import { mintSessionToken } from "@/lib/auth/tokens/session-token";
import { auditEntries } from "@/lib/db/audit";
import { frequentStatement } from "@/lib/db/frequent-statement";
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

/** Starts a session as {@link startSession} does, in the transaction of a caller that holds the account's turn. */
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
  // The browser that a token is made in may have ended since the caller read it.
  const { made_in } = session;
  if (made_in && !sessions.some(({ id }) => id === made_in)) throw new ApiError("signed_out");
  await changeInTurn(transaction, { by, what, account, sessions }, nowMs, async (transaction) => {
    await deleteExpiredOf(transaction, account.id, nowMs);
    await transaction
      .insertInto("local_sessions")
      .values(row)
      .onConflict((approved) => approved.column("id").doUpdateSet(row))
      .execute();
    if (!mail) return;
    const { name, app_origin: origin, network } = session;
    const about = { kind: mail.kind, to: email, name, origin, network, atMs: nowMs };
    await enqueueMail(transaction, about, { id: mail.id, nowMs });
  });
}

const deleteExpiredOf = frequentStatement((db, accountId: string, nowMs: number) =>
  db
    .deleteFrom("local_sessions")
    .where("account_id", "=", accountId)
    .where("expires_at_ms", "<=", nowMs)
    .where("id", "not in", endedApps(db, accountId, nowMs).clearSelect().select("id").limit(maxSessions)),
);

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

/** Maximum current sessions of one account. */
export const maxSessions = 100;

/** How the audit records that a session ended because its account had too many. */
const overLimit = { by: "service", what: "session limit" } as const;

/**
 * Ends a session of an account that has {@link maxSessions}, in the caller's turn: the oldest program's, and without one
 * the one that was unused for the longest time.
 *
 * @returns the sessions that it has then
 */
async function makeRoom(
  transaction: Db,
  account: { id: string; email: string | undefined },
  nowMs: number,
): Promise<Session[]> {
  const isProgram = ({ kind }: Session) => Number(kind === "program");
  const lastAtMs = (session: Session) =>
    (!isProgram(session) && session.last_seen_at_ms) || session.begun_at_ms || 0;
  const sessions = await listSessions(transaction, account.id, nowMs);
  if (sessions.length < maxSessions) return sessions;
  sessions.sort((one, other) => isProgram(one) - isProgram(other) || lastAtMs(other) - lastAtMs(one));
  await changeInTurn(transaction, { ...overLimit, account }, nowMs, (transaction) =>
    endRows(transaction, sessions.slice(maxSessions - 1), overLimit, nowMs),
  );
  return listSessions(transaction, account.id, nowMs);
}

/** The query of the audit's entries about sessions that ended since an instant because their account had too many. */
export function crowdedOut(db: Db, email: string, sinceMs: number) {
  return auditEntries(db, { whom: [email], what: overLimit.what, sinceMs }).limit(maxSessions);
}

/** How many sessions these entries are about. */
export function countCrowdedOut(entries: InferResult<ReturnType<typeof crowdedOut>>): number {
  return entries.reduce((sum, { before }) => sum + Object.keys(JSON.parse(before ?? "{}")).length, 0);
}
