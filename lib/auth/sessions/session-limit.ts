import type { InferResult } from "kysely";
import { listSessions, type Session } from "@/lib/auth/sessions/session";
import { changeInTurn } from "@/lib/auth/sessions/session-changes";
import { endRows } from "@/lib/auth/sessions/session-end";
import { auditEntries } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

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
export async function makeRoom(
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
