import { sql } from "kysely";
import type { Db } from "@/lib/db/store";

/** The due mails of an outbox: their number, up to {@link maxCounted}, and the earliest due time (0 if none is due). */
type Backlog = { due: number; oldestDueAtMs: number };

const maxCounted = 10_000; // high enough to show a problem, and quick to count

/** The mails that are due at `nowMs` and that no runner has claimed: of the onboarding series, and all others. */
export function findBacklogs(db: Db, nowMs: number): Promise<[onboarding: Backlog, signIn: Backlog]> {
  return Promise.all([
    count(db, "onboarding_emails", { state: "scheduled", nowMs }),
    count(db, "sign_in_mails", { nowMs }),
  ]);
}

/** The unfinished and failed mails of each outbox by state, each counted up to {@link maxCounted}. */
export function countByState(db: Db) {
  const label = async (outbox: string, state: string, counted: Promise<Backlog>) => {
    return { outbox, state, mails: (await counted).due };
  };
  return Promise.all([
    ...["scheduled", "sending", "failed"].map((state) =>
      label("onboarding", state, count(db, "onboarding_emails", { state })),
    ),
    label("sign-in", "scheduled", count(db, "sign_in_mails", {})),
  ]);
}

async function count(
  db: Db,
  outbox: "onboarding_emails" | "sign_in_mails",
  { state, nowMs }: { state?: string; nowMs?: number },
): Promise<Backlog> {
  let mails = db.selectFrom(outbox).select("next_attempt_at_ms").limit(maxCounted);
  if (state !== undefined) mails = mails.where(sql`state`, "=", sql.lit(state)); // as in the partial indexes
  if (nowMs !== undefined)
    mails = mails.where("next_attempt_at_ms", "<=", nowMs).orderBy("next_attempt_at_ms");
  const found = await db
    .selectFrom(mails.as("due"))
    .select(({ fn }) => [fn.countAll<number>().as("due"), fn.min("next_attempt_at_ms").as("oldest")])
    .executeTakeFirst();
  return { due: Number(found?.due ?? 0), oldestDueAtMs: Number(found?.oldest ?? 0) };
}
