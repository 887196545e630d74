import { endingOf } from "@/lib/auth/sessions/ended-app";
import { approvedKind, currentSessions, type SessionKind } from "@/lib/auth/sessions/session";
import { type AuditSource, changeSessions } from "@/lib/auth/sessions/session-changes";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** Ends the session of this id and the sessions that were made in it. */
export async function endSession(db: Db, source: AuditSource, id: string, nowMs: number): Promise<void> {
  const sessions = db.selectFrom("local_sessions").select("account_id");
  const row = await sessions.where("id", "=", id).executeTakeFirst();
  if (row) await endSessionsOf(db, { ...source, accountId: row.account_id, which: { id } }, nowMs);
}

/**
 * Ends sessions of an account, and the sessions that were made in them. Returns whether there was any.
 *
 * @param which - what their columns have: all sessions of the account have nothing. Approvals are of the kind of apps
 * @param allBut - the id of one that goes on
 */
export function endSessionsOf(
  db: Db,
  {
    accountId,
    which: { kind, ...columns },
    allBut = "",
    ...source
  }: AuditSource & {
    accountId: string;
    which: { kind?: SessionKind } & Partial<
      Pick<Tables["local_sessions"], "id" | "begun_by" | "clerk_session">
    >;
    allBut?: string | undefined;
  },
  nowMs: number,
): Promise<boolean> {
  return changeSessions(db, { ...source, accountId }, nowMs, async (transaction) => {
    const chosen = transaction
      .selectFrom("local_sessions")
      .select("id")
      .where("account_id", "=", accountId)
      .where((row) => row.and(columns))
      .$if(kind !== undefined, (of) =>
        of.where("kind", "in", kind === "app" ? [kind, approvedKind] : [`${kind}`]),
      )
      .where("id", "!=", allBut);
    const ended = await currentSessions(transaction, nowMs)
      .where(({ or, eb }) => or([eb("id", "in", chosen), eb("made_in", "in", chosen)]))
      .execute();
    await endRows(transaction, ended, source, nowMs);
    return ended.length > 0;
  });
}

/** Ends sessions at once: an app's row says so for 30 days, the others are deleted. */
export async function endRows(
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
