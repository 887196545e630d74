import { type SelectQueryBuilder, sql } from "kysely";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** What waits in an outbox to be sent now. */
type Backlog = {
  /** How many mails are due; counted no further than {@link maxCounted}. */
  due: number;
  /** Since when the one that waits longest has been due, Unix milliseconds; 0 when none is. */
  oldestDueAtMs: number;
};

/** Far enough to see that something is wrong, and soon counted. */
const maxCounted = 10_000;

/** The onboarding mails that are due at `nowMs` and with no runner yet. */
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

/** The same of codes and invitations. */
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

/** The mails of each outbox by state, save for what is over: each counted no further than {@link maxCounted}. */
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
