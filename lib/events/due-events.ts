import { sql } from "kysely";
import { closeExpiredHolds, lockAccounts } from "@/lib/accounts/credits/ledger";
import { endGifts } from "@/lib/accounts/terms/gift-ends";
import { ledgerTransaction } from "@/lib/db/ledger-transaction";
import type { Db } from "@/lib/db/store";
import { takeDueRows } from "@/lib/mail/outbox/due-rows";

const atOnce = 200;
const roundsAtMost = 50;

/**
 * Tells what time alone ended by `nowMs`: what operators gave, trials, sessions of apps, and holds. A mark in the row is what
 * the trigger tells, so each is told once. The conditions are those of partial indexes, in the same literal words.
 */
export async function tellDueEvents(db: Db, nowMs: number): Promise<void> {
  await endGifts(db, nowMs);
  const trials = db
    .selectFrom("accounts")
    .select("id")
    .where(
      sql<boolean>`plan = 'trial' and (trial_end_told_ms is null or trial_end_told_ms <> trial_ends_at_ms)`,
    )
    .where("trial_ends_at_ms", "<=", nowMs)
    .orderBy("trial_ends_at_ms");
  await takeAll(() =>
    takeDueRows(db, "accounts", {
      due: trials,
      limit: atOnce,
      change: { trial_end_told_ms: sql`trial_ends_at_ms` },
    }),
  );
  const apps = db
    .selectFrom("local_sessions")
    .select("id")
    .where(sql<boolean>`kind = 'app' and ended_as is null and end_told_ms is null`)
    .where("expires_at_ms", "<=", nowMs)
    .orderBy("expires_at_ms");
  await takeAll(() =>
    takeDueRows(db, "local_sessions", { due: apps, limit: atOnce, change: { end_told_ms: nowMs } }),
  );
  await takeAll(() => closeDueHolds(db, nowMs));
}

async function takeAll(take: () => Promise<unknown[] | undefined>): Promise<void> {
  for (let round = 0; round < roundsAtMost; round++) if ((await take())?.length !== atOnce) return;
}

async function closeDueHolds(db: Db, nowMs: number): Promise<unknown[]> {
  const due = await db
    .selectFrom("holds")
    .select("account_id")
    .where("closed_as", "is", null)
    .where("expires_at_ms", "<=", nowMs)
    .orderBy("expires_at_ms")
    .limit(atOnce)
    .execute();
  const accounts = [...new Set(due.map(({ account_id }) => account_id))];
  if (due.length > 0)
    await ledgerTransaction(db, async (transaction) =>
      closeExpiredHolds(transaction, (await lockAccounts(transaction, accounts)).rows, nowMs),
    );
  return due;
}
