import { sql } from "kysely";
import { oauthBounds } from "@/lib/config/limits";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { batchRows, sweep } from "@/lib/db/old-rows";
import type { Db } from "@/lib/db/store";

const state = { table: "connect_state", key: ["kind", "id_hash"], column: "expires_at_ms" } as const;

/** The kinds of rows that anyone can create; they are stored until an owner answers or they expire. */
const pendingKinds = ["Interaction", "DeviceCode"];

/**
 * Deletes rows of the authorization server: those that have expired and, above the maximum, the oldest that no owner has
 * answered.
 */
export async function sweepState(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  await sweep(db, { ...state, untilMs: nowMs }, signal);
  // All rows of a kind have the same lifetime, so the first to expire is the oldest.
  for (const kind of pendingKinds) {
    const only = sql<boolean>`kind = ${kind} and grant_id is null`;
    await sweep(db, { ...state, untilMs: nowMs, only, max: oauthBounds.pendingRows }, signal);
  }
}

/**
 * Deletes the oldest refresh tokens of a grant above the maximum, a batch at most, so that an app that renews all the time
 * fills no store.
 */
export const sweepRefreshTokens = frequentStatement((db, grantId: string | null) => {
  const tokens = db
    .selectFrom("connect_state")
    .select("id_hash")
    .where(sql<boolean>`kind = 'RefreshToken' and grant_id = ${grantId}`);
  const beyond = tokens.orderBy("expires_at_ms", "desc").offset(oauthBounds.refreshTokens).limit(batchRows);
  return db
    .deleteFrom("connect_state")
    .where("kind", "=", "RefreshToken")
    .where("id_hash", "in", beyond.forUpdate().skipLocked());
});
