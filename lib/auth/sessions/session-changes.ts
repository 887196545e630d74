import { listSessions, type Session } from "@/lib/auth/sessions/session";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";

/** Who changes a session, and for what. */
export type AuditSource = { by: Actor; what: string };

type Change<T> = (transaction: Db, email: string | undefined) => Promise<T>;

/** Runs work in a transaction for which other changes of the sessions of the account wait. */
export function inTurn<T>(db: Db, accountId: string, work: Change<T>): Promise<T> {
  return transact(db, async (transaction) => {
    const account = await accountBy(transaction, "id", accountId)
      .select("email")
      .forNoKeyUpdate()
      .executeTakeFirst();
    return work(transaction, account?.email);
  });
}

/**
 * Changes sessions of an account and records those that change in the audit, with id, kind, name, last date and
 * confirmation. Changes of one account take turns.
 */
export function changeSessions<T>(
  db: Db,
  { accountId: id, ...source }: AuditSource & { accountId: string },
  nowMs: number,
  change: Change<T>,
): Promise<T> {
  return inTurn(db, id, (transaction, email) =>
    changeInTurn(transaction, { ...source, account: { id, email } }, nowMs, change),
  );
}

/**
 * The same in the caller's turn.
 *
 * @param source - `sessions` are the current ones, if the caller has read them in this turn
 */
export function changeInTurn<T>(
  transaction: Db,
  source: AuditSource & { account: { id: string; email: string | undefined }; sessions?: Session[] },
  nowMs: number,
  change: Change<T>,
): Promise<T> {
  const { by, what, account, sessions } = source;
  const { id, email } = account;
  let known = sessions;
  const readState = async (transaction: Db) => {
    const current = known ?? (await listSessions(transaction, id, nowMs));
    known = undefined; // the change may have changed them
    return Object.fromEntries(
      current.map(({ id, kind, name, app_origin, last_date_ms, confirmed_by, confirmed_at_ms }) => {
        const lastDate = last_date_ms && { lastDate: asIso(last_date_ms) };
        const confirmed = confirmed_at_ms && {
          confirmed: { by: confirmed_by, at: asIso(confirmed_at_ms) },
        };
        return [id, { kind, name, ...(app_origin && { origin: app_origin }), ...lastDate, ...confirmed }];
      }),
    );
  };
  const about = { by, what, whom: email ?? id, readState };
  return auditedTransaction(transaction, about, nowMs, (transaction) => change(transaction, email));
}
