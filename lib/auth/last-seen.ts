import { store } from "@/lib/db/store";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";
import { LruCache } from "@/lib/runtime/lru-cache";

const everyMs = 60 * 60 * 1000; // 1 hour
const maxKnown = 10_000;

/**
 * Notes that a session was used at `nowMs`, without anybody waiting: one write an hour for each session, whatever
 * becomes of it.
 *
 * @param lastSeenAtMs - what the store says so far
 */
export function recordSessionUse(id: string, lastSeenAtMs: number | null, nowMs: number): void {
  if (lastSeenAtMs !== null && nowMs - lastSeenAtMs < everyMs) return;
  const noted = processSingleton("sessions seen", () => new LruCache<number>(maxKnown));
  if (nowMs - (noted.get(id) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
  noted.set(id, nowMs);
  writeLastSeen(id, nowMs).catch((failure) =>
    log().warn({ err: failure }, "a session's last use could not be noted"),
  );
}

async function writeLastSeen(id: string, nowMs: number): Promise<void> {
  const db = await store();
  await db
    .updateTable("local_sessions")
    .set({ last_seen_at_ms: nowMs })
    .where("id", "=", id)
    .where((session) =>
      session.or([session("last_seen_at_ms", "is", null), session("last_seen_at_ms", "<=", nowMs - everyMs)]),
    )
    .execute();
}
