import type { Kysely } from "kysely";
import { eraseOldMailFiles } from "@/lib/mail/file-sender";
import { type Loop, startLoop } from "@/lib/process/loop";
import { settings } from "@/lib/settings/settings";
import { change } from "@/lib/store/audit";
import { type Db, store } from "@/lib/store/store";

const dayMs = 24 * 60 * 60 * 1000;
const everyMs = 60 * 60 * 1000; // 1 hour
const lookAgainAfterMs = 5000;
const mostAtOnce = 500; // so that nobody waits long for the lock

/**
 * Deletes what is older than `RETENTION_DAYS`: who joined the waitlist, invitations, onboarding mails that are settled
 * and their files, entries of the audit; and sessions that are over. Accounts and their ledgers stay.
 */
export async function forgetOld(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  const beforeMs = nowMs - settings().retentionDays * dayMs;
  const steps = [
    (some: Db) => deleteOld(some, { table: "waitlist", key: "email", column: "joined_at_ms" }, beforeMs),
    (some: Db) => deleteOld(some, { table: "invitations", key: "id", column: "created_at_ms" }, beforeMs),
    (some: Db) => deleteOld(some, { table: "audit_entries", key: "id", column: "at_ms" }, beforeMs),
    (some: Db) => deleteOld(some, { table: "local_sessions", key: "id", column: "expires_at_ms" }, nowMs),
    (some: Db) => deleteSettledMails(some, beforeMs),
  ];
  for (const step of steps) {
    for (let deleted = mostAtOnce; deleted === mostAtOnce && !signal?.aborted; ) {
      const about = { by: "service", what: "retention", whom: null, look: async () => null } as const;
      deleted = await change(db, about, nowMs, step);
    }
  }
  await eraseOldMailFiles(settings().dataDir, beforeMs);
}

/** Does it now and every hour; where the store is away, as soon as it is back. */
export function startRetention(): Loop {
  let nextAtMs = 0;
  const round = async (signal: AbortSignal) => {
    if (performance.now() < nextAtMs) return;
    await forgetOld(await store(), Date.now(), signal);
    nextAtMs = performance.now() + everyMs;
  };
  return startLoop(round, { pauseMs: lookAgainAfterMs, failed: "what is old could not be deleted" });
}

/** Deletes some of a table's old rows; answers how many. */
async function deleteOld(
  transaction: Db,
  { table, key, column }: { table: string; key: string; column: string },
  untilMs: number,
): Promise<number> {
  const db = transaction as unknown as Kysely<Record<string, Record<string, unknown>>>;
  const old = db.selectFrom(table).select(key).where(column, "<=", untilMs).limit(mostAtOnce);
  return (await db.deleteFrom(table).where(key, "in", old).returning(key).execute()).length;
}

async function deleteSettledMails(transaction: Db, untilMs: number): Promise<number> {
  const old = transaction
    .selectFrom("onboarding_emails")
    .select("id")
    .where("state", "in", ["sent", "stopped", "failed"])
    .where("due_at_ms", "<=", untilMs)
    .limit(mostAtOnce);
  const deleted = transaction.deleteFrom("onboarding_emails").where("id", "in", old).returning("id");
  return (await deleted.execute()).length;
}
