import { store } from "@/lib/db/store";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";
import { LruCache } from "@/lib/runtime/lru-cache";

const everyMs = 60 * 60 * 1000; // 1 hour
const maxRemembered = 10_000;

/**
 * Records that a session was used at `nowMs`. The caller does not wait. At most one write per session and hour, also if
 * the write fails.
 *
 * @param lastSeenAtMs - the value in the store
 */
export function recordSessionUse(id: string, lastSeenAtMs: number | null, nowMs: number): void {
  if (lastSeenAtMs !== null && nowMs - lastSeenAtMs < everyMs) return;
  const recorded = processSingleton("sessions seen", () => new LruCache<number>(maxRemembered));
  if (nowMs - (recorded.get(id) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
  recorded.set(id, nowMs);
  writeLastSeen(id, nowMs).catch((failure) =>
    log().warn({ err: failure }, "a session's last use could not be recorded"),
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
