import { type SelectQueryBuilder, sql } from "kysely";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** The due mails of an outbox: their number, up to {@link maxCounted}, and the earliest due time (0 if none is due). */
type Backlog = { due: number; oldestDueAtMs: number };

const maxCounted = 10_000; // high enough to show a problem, and quick to count

/** The onboarding mails that are due at `nowMs` and that no runner has claimed. */
export function findOnboardingBacklog(db: Db, nowMs: number): Promise<Backlog> {
  return count(
    db,
    db
      .selectFrom("onboarding_emails")
      .select("next_attempt_at_ms")
      .where(sql`state`, "=", sql`'scheduled'`) // as in the partial index
      .where("next_attempt_at_ms", "<=", nowMs)
      .orderBy("next_attempt_at_ms")
      .limit(maxCounted),
  );
}

/** The sign-in codes and invitations that are due at `nowMs`. */
export function findSignInBacklog(db: Db, nowMs: number): Promise<Backlog> {
  return count(
    db,
    db
      .selectFrom("sign_in_mails")
      .select("next_attempt_at_ms")
      .where("next_attempt_at_ms", "<=", nowMs)
      .orderBy("next_attempt_at_ms")
      .limit(maxCounted),
  );
}

/** The unfinished and failed mails of each outbox by state, each counted up to {@link maxCounted}. */
export function countByState(db: Db): Promise<{ outbox: string; state: string; mails: number }[]> {
  const onboarding = db.selectFrom("onboarding_emails").select("next_attempt_at_ms").limit(maxCounted);
  const signIn = db.selectFrom("sign_in_mails").select("next_attempt_at_ms").limit(maxCounted);
  const counts = [
    ...["scheduled", "sending", "failed"].map((state) => ({
      outbox: "onboarding",
      state,
      query: onboarding.where(sql`state`, "=", sql.lit(state)), // as in the partial indexes
    })),
    { outbox: "sign-in", state: "scheduled", query: signIn },
  ];
  return Promise.all(
    counts.map(async ({ query, ...labels }) => ({ ...labels, mails: (await count(db, query)).due })),
  );
}

type Due = SelectQueryBuilder<Tables, never, { next_attempt_at_ms: number }>;

async function count(db: Db, due: unknown): Promise<Backlog> {
  const found = await db
    .selectFrom((due as Due).as("due"))
    .select(({ fn }) => [fn.countAll<number>().as("due"), fn.min("next_attempt_at_ms").as("oldest")])
    .executeTakeFirst();
  return { due: Number(found?.due ?? 0), oldestDueAtMs: Number(found?.oldest ?? 0) };
}
