import type { Expression, InferResult } from "kysely";
import { type EndedApp, wordsForApp } from "@/lib/auth/sessions/ended-app";
import type { Db } from "@/lib/db/store";

/** What apps were told by `GET /api/entitlement`, by the moment from which each was told that; the newest first. */
export function selectAppAnswers(db: Db, accountId: string | Expression<string>) {
  return db
    .selectFrom("app_answers as answer")
    .leftJoin("local_sessions as session", "session.id", "answer.session_id")
    .select(["session.name as app", "answer.told", "answer.at_ms"])
    .where("answer.account_id", "=", accountId)
    .orderBy("answer.at_ms", "desc");
}

/**
 * The same with the apps that have ended, which are told `signed-out` from their end on, whether they ask or not. `why` is what
 * they are told of it.
 */
export function withEnds(answers: InferResult<ReturnType<typeof selectAppAnswers>>, ended: EndedApp[]) {
  const ends = ended.map(({ name: app, expires_at_ms: at_ms, ending }) => {
    return { app, told: "signed-out", at_ms, why: wordsForApp[ending] };
  });
  return [...ends, ...answers.map((answer) => ({ ...answer, why: null }))].sort((a, b) => b.at_ms - a.at_ms);
}

/** Keeps that these apps are told something else from now on than they were the last time. */
export async function keepAppAnswers(db: Db, ids: string[], told: string, nowMs: number): Promise<void> {
  const changed = db
    .selectFrom("local_sessions")
    .select((row) => ["account_id", "id", row.val(told).as("told"), row.val(nowMs).as("at_ms")])
    .where("id", "in", ids)
    .where("told", "is distinct from", told);
  await db
    .insertInto("app_answers")
    .columns(["account_id", "session_id", "told", "at_ms"])
    .expression(changed)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
