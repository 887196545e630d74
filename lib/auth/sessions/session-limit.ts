import { listSessions, type Session } from "@/lib/auth/sessions/session";
import { changeSessions } from "@/lib/auth/sessions/session-changes";
import { endRows } from "@/lib/auth/sessions/session-end";
import { auditEntries } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** Maximum current sessions of one account. */
export const maxSessions = 100;

/** How the audit records that a session ended because its account had too many. */
const overLimit = { by: "service", what: "session limit" } as const;

/**
 * Ends a session of an account that has {@link maxSessions}: the oldest program's, and without one the one that was unused
 * for the longest time.
 */
export async function makeRoom(db: Db, accountId: string, nowMs: number): Promise<void> {
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
