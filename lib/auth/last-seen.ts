import { idleEnd } from "@/lib/config/session-lifetimes";
import { store } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { processSingleton } from "@/lib/process-singleton";
import { log } from "@/lib/runtime/log";
import { RecentCache } from "@/lib/runtime/recent-cache";

const everyMs = 60 * 60 * 1000; // 1 hour
const maxRemembered = 10_000;

/** Of a session's row: what its use moves. */
export type Used = Pick<Tables["local_sessions"], "expires_at_ms" | "last_date_ms" | "last_seen_at_ms">;

/**
 * Records that a session was used at `nowMs`, which moves its end. The caller does not wait. At most one write per session
 * and hour, also if the write fails.
 *
 * @returns when it ends now
 */
export function recordSessionUse(
  id: string,
  { expires_at_ms, last_date_ms, last_seen_at_ms }: Used,
  nowMs: number,
): number {
  if (last_seen_at_ms !== null && nowMs - last_seen_at_ms < everyMs) return expires_at_ms;
  const recorded = processSingleton("sessions seen", () => new RecentCache<number>(maxRemembered, everyMs));
  const endsAtMs = last_date_ms === null ? expires_at_ms : idleEnd(last_date_ms, nowMs);
  if (nowMs - (recorded.get(id) ?? Number.NEGATIVE_INFINITY) < everyMs) return endsAtMs;
  recorded.set(id, nowMs, nowMs);
  // Moves nothing of a session that has ended in the meantime, or whose owner has moved its last date.
  store()
    .then((db) =>
      db
        .updateTable("local_sessions")
        .set({ last_seen_at_ms: nowMs, expires_at_ms: endsAtMs })
        .where("id", "=", id)
        .where("last_date_ms", "is not distinct from", last_date_ms)
        .where("expires_at_ms", ">", nowMs)
        .where("ended_as", "is", null)
        .execute(),
    )
    .catch((failure) => log().warn({ err: failure }, "a session's last use could not be recorded"));
  return endsAtMs;
}
