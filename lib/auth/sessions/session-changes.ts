import { listSessions } from "@/lib/auth/sessions/session";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";

/** Who changes a session, and for what. */
export type AuditSource = { by: Actor; what: string };

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
