import { setTimeout as sleep } from "node:timers/promises";
import { oauthBounds } from "@/lib/config/limits";
import type { Db } from "@/lib/db/store";

// The embedded store blocks during a deletion, so each batch takes a few milliseconds, followed by a pause as long.
const batchRows = 100;
const pauseMs = 10;

/** The kinds of rows that anyone can create; they are stored until an owner answers or they expire. */
const pendingKinds = ["Interaction", "DeviceCode"];

/**
 * Deletes rows of the authorization server, in batches: those that have expired and, above the maximum, the oldest that
 * no owner has answered.
 */
export async function sweepState(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  await deleteUntil(db, nowMs, undefined, signal);
  for (const kind of pendingKinds) {
    const evicted = await db
      .selectFrom("connect_state")
      .select("expires_at_ms")
      .where("kind", "=", kind)
      .where("grant_id", "is", null)
      .orderBy("expires_at_ms", "desc")
      .limit(1)
      .offset(oauthBounds.pendingRows)
      .executeTakeFirst();
    // All rows of a kind have the same lifetime, so the first to expire is the oldest.
    if (evicted) await deleteUntil(db, evicted.expires_at_ms, kind, signal);
  }
}

async function deleteUntil(
  db: Db,
  untilMs: number,
  pendingKind: string | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  let rows = db.selectFrom("connect_state").where("expires_at_ms", "<=", untilMs);
  if (pendingKind) rows = rows.where("kind", "=", pendingKind).where("grant_id", "is", null);
  const batch = rows
    .select(["kind", "id_hash"])
    .orderBy("expires_at_ms")
    .limit(batchRows)
    .forUpdate()
    .skipLocked();
  while (!signal?.aborted) {
    const { numDeletedRows } = await db
      .deleteFrom("connect_state")
      .where(({ eb, refTuple }) => eb(refTuple("kind", "id_hash"), "in", batch.$asTuple("kind", "id_hash")))
      .executeTakeFirstOrThrow();
    if (numDeletedRows < batchRows) return;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
