import type { Insertable } from "kysely";
import { endingOf, listEndedApps } from "@/lib/auth/ended-app";
import { requireSigningKey } from "@/lib/auth/key-ring";
import {
  currentSessions,
  listSessions,
  mintSessionId,
  programTokenSeconds,
  type Session,
} from "@/lib/auth/session";
import { nameToken } from "@/lib/auth/session-name";
import { mintSessionToken } from "@/lib/auth/session-token";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { type Actor, auditEntries, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import { enqueueMail, securityMailMs } from "@/lib/mail/outbox";

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

/** Ends the session of this id and the sessions that were made in it. */
export async function endSession(db: Db, source: AuditSource, id: string, nowMs: number): Promise<void> {
  const sessions = db.selectFrom("local_sessions").select("account_id");
  const row = await sessions.where("id", "=", id).executeTakeFirst();
  if (row) await endSessionsOf(db, source, row.account_id, { id }, nowMs);
}

/**
 * Ends sessions of an account, and the sessions that were made in them. Returns whether there was any.
 *
 * @param which - what their columns have: all sessions of the account have nothing
 * @param allBut - the id of one that goes on
 */
export function endSessionsOf(
  db: Db,
  source: AuditSource,
  accountId: string,
  which: Partial<Pick<Tables["local_sessions"], "id" | "kind" | "begun_by" | "clerk_session">>,
  nowMs: number,
  allBut = "",
): Promise<boolean> {
  return changeSessions(db, source, accountId, nowMs, async (transaction) => {
    const chosen = transaction
      .selectFrom("local_sessions")
      .select("id")
      .where("account_id", "=", accountId)
      .where((row) => row.and(which))
      .where("id", "!=", allBut);
    const ended = await currentSessions(transaction, nowMs)
      .where(({ or, eb }) => or([eb("id", "in", chosen), eb("made_in", "in", chosen)]))
      .execute();
    await endRows(transaction, ended, source, nowMs);
    return ended.length > 0;
  });
}

/** Ends sessions at once: an app's row says so for 30 days, the others are deleted. */
async function endRows(
  transaction: Db,
  rows: { id: string }[],
  source: AuditSource,
  nowMs: number,
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  const ended_as = endingOf(source);
  if (ended_as) {
    await transaction
      .updateTable("local_sessions")
      .set({ ended_as, expires_at_ms: nowMs, end_mail_at_ms: null })
      .where("id", "in", ids)
      .where("kind", "=", "app")
      .execute();
  }
  await transaction
    .deleteFrom("local_sessions")
    .where("id", "in", ids)
    .where("ended_as", "is", null)
    .execute();
}

export type NewSession = Omit<
  Insertable<Tables["local_sessions"]>,
  "confirmed_at_ms" | "begun_at_ms" | "begun_by"
> & {
  name: string;
  mail?: { kind: "new browser" | "new app"; id?: string | undefined } | undefined;
};

/** Maximum current sessions of one account. */
export const maxSessions = 100;

/**
 * Starts a session, and deletes those of the account that have expired, except the apps that ended last. Where the account
 * has {@link maxSessions}, another one ends for it: the oldest program's, and without one the one that was unused for the
 * longest time.
 */
export async function startSession(
  db: Db,
  source: AuditSource,
  { mail, ...session }: NewSession,
  nowMs: number,
): Promise<void> {
  const accountId = session.account_id;
  await transact(db, async (transaction) => {
    await makeRoom(transaction, accountId, nowMs);
    await changeSessions(transaction, source, accountId, nowMs, async (transaction, email) => {
      await deleteExpiredOf(transaction, accountId, nowMs);
      await transaction
        .insertInto("local_sessions")
        .values({
          ...session,
          confirmed_at_ms: session.confirmed_by ? nowMs : null,
          begun_at_ms: nowMs,
          begun_by: source.by,
        })
        .execute();
      if (!mail || !email) return;
      const { name, app_origin: origin } = session;
      const about = { kind: mail.kind, to: email, name, origin, atMs: nowMs };
      await enqueueMail(transaction, about, { id: mail.id, nowMs, untilMs: nowMs + securityMailMs });
    });
  });
}

async function deleteExpiredOf(transaction: Db, accountId: string, nowMs: number): Promise<void> {
  const apps = await listEndedApps(transaction, accountId, nowMs);
  await transaction
    .deleteFrom("local_sessions")
    .where("account_id", "=", accountId)
    .where("expires_at_ms", "<=", nowMs)
    .where("id", "not in", ["none", ...apps.slice(0, maxSessions).map(({ id }) => id)])
    .execute();
}

/** How the audit records that a session ended because its account had too many. */
const overLimit = { by: "service", what: "session limit" } as const;

async function makeRoom(db: Db, accountId: string, nowMs: number): Promise<void> {
  const isProgram = ({ kind }: Session) => Number(kind === "program");
  const lastAtMs = (session: Session) =>
    (!isProgram(session) && session.lastSeenAtMs) || session.begunAtMs || 0;
  await changeSessions(db, overLimit, accountId, nowMs, async (transaction) => {
    const sessions = await listSessions(transaction, accountId, nowMs);
    sessions.sort((one, other) => isProgram(one) - isProgram(other) || lastAtMs(other) - lastAtMs(one));
    await endRows(transaction, sessions.slice(maxSessions - 1), overLimit, nowMs);
  });
}

/** How many sessions of an account ended since an instant because it had too many. */
export async function countCrowdedOut(db: Db, email: string, sinceMs: number): Promise<number> {
  const entries = await auditEntries(db, { whom: [email], what: overLimit.what, sinceMs })
    .limit(maxSessions)
    .execute();
  return entries.reduce((sum, { before }) => sum + Object.keys(JSON.parse(before ?? "{}")).length, 0);
}

type AuditSource = { by: Actor; what: string };

/**
 * Changes sessions of an account and records those that change in the audit, with id, kind, name, last date and
 * confirmation. Changes of one account take turns.
 */
export function changeSessions<T>(
  db: Db,
  source: AuditSource,
  accountId: string,
  nowMs: number,
  change: (transaction: Db, email: string | undefined) => Promise<T>,
): Promise<T> {
  return transact(db, async (transaction) => {
    const account = await accountBy(transaction, "id", accountId)
      .select("email")
      .forNoKeyUpdate()
      .executeTakeFirst();
    const readState = async (transaction: Db) =>
      Object.fromEntries(
        (await listSessions(transaction, accountId, nowMs)).map(
          ({ id, kind, name, origin, lastDateMs, confirmedBy, confirmedAtMs }) => {
            const lastDate = lastDateMs && { lastDate: asIso(lastDateMs) };
            const confirmed = confirmedAtMs && { confirmed: { by: confirmedBy, at: asIso(confirmedAtMs) } };
            return [id, { kind, name, ...(origin && { origin }), ...lastDate, ...confirmed }];
          },
        ),
      );
    const about = { ...source, whom: account?.email ?? accountId, readState };
    return auditedTransaction(transaction, about, nowMs, (transaction) =>
      change(transaction, account?.email),
    );
  });
}
