import { sql } from "kysely";
import type { Db } from "@/lib/db/store";
import { kindNames } from "@/lib/mail/kinds";
import { isOfKind } from "@/lib/mail/outbox/due-rows";

/** Mail that is due for longer is delayed, as people are told: runners look every few seconds. */
export const delayedAfterMs = 2 * 60_000; // 2 minutes

const maxCounted = 10_000; // high enough to show a problem, and quick to count

/**
 * The mails of each outbox that are due at `nowMs`, that this build can send and that no runner has claimed, counted up to
 * {@link maxCounted}.
 */
export function findBacklogs(db: Db, nowMs: number) {
  return Promise.all([count(db, "onboarding", "scheduled", nowMs), count(db, "sign-in", "scheduled", nowMs)]);
}

/** The unfinished and failed mails of each outbox by state, each counted up to {@link maxCounted}. */
export function countByState(db: Db) {
  return Promise.all([
    count(db, "onboarding", "scheduled"),
    count(db, "onboarding", "sending"),
    count(db, "onboarding", "failed"),
    count(db, "sign-in", "scheduled"),
  ]);
}

async function count(db: Db, outbox: "onboarding" | "sign-in", state: string, dueAtMs?: number) {
  let rows = db
    .selectFrom(outbox === "onboarding" ? "onboarding_emails" : "sign_in_mails")
    .select("next_attempt_at_ms")
    .limit(maxCounted);
  if (outbox === "onboarding") rows = rows.where(sql`state`, "=", sql.lit(state)); // as in the partial indexes
  if (dueAtMs !== undefined)
    rows = rows
      .where("next_attempt_at_ms", "<=", dueAtMs)
      .where(
        isOfKind(
          outbox === "onboarding" ? kindNames.onboarding : [...kindNames.scheduled, ...kindNames.others],
        ),
      )
      .orderBy("next_attempt_at_ms");
  const found = await db
    .selectFrom(rows.as("counted"))
    .select(({ fn }) => [fn.countAll<number>().as("mails"), fn.min("next_attempt_at_ms").as("oldest")])
    .executeTakeFirst();
  const oldestDueAtMs = Number(found?.oldest ?? Number.POSITIVE_INFINITY);
  return { outbox, state, mails: Number(found?.mails ?? 0), oldestDueAtMs };
}
