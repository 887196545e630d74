import { setTimeout as sleep } from "node:timers/promises";
import { store } from "@/lib/db/store";
import { processSingleton } from "@/lib/process-singleton";
import { afterResponse } from "@/lib/runtime/after-response";
import { log } from "@/lib/runtime/log";
import { RecentCache } from "@/lib/runtime/recent-cache";

const everyMs = 60_000; // 1 minute
const batchEveryMs = 1000;
const batchSize = 100;
const maxRemembered = 10_000;

type Check = { told: string; atMs: number };

const checks = () =>
  processSingleton("checks", () => ({
    recorded: new RecentCache<Check>(maxRemembered, everyMs),
    /** Not written yet; never more than are remembered. */
    waiting: new Map<string, Check>(),
  }));

/**
 * Records what `GET /api/entitlement` has told an app. The caller does not wait. At most one write per session and minute,
 * and another if it was told something else; those of one second share a statement.
 *
 * @param told - the status
 */
export function recordCheck(sessionId: string, told: string, nowMs: number): void {
  const { recorded, waiting } = checks();
  const last = recorded.get(sessionId);
  if (last?.told === told && nowMs - last.atMs < everyMs) return;
  if (waiting.size >= maxRemembered) return;
  recorded.set(sessionId, { told, atMs: nowMs }, nowMs);
  waiting.set(sessionId, { told, atMs: nowMs });
  if (waiting.size === 1) afterResponse(writeWaiting);
}

async function writeWaiting(): Promise<void> {
  const { waiting } = checks();
  await sleep(batchEveryMs, undefined, { ref: false });
  const batch = Map.groupBy(waiting, ([, { told }]) => told);
  waiting.clear();
  try {
    const db = await store();
    for (const [told, same] of batch) {
      for (let from = 0; from < same.length; from += batchSize) {
        const written = same.slice(from, from + batchSize);
        const checked_at_ms = Math.max(...written.map(([, { atMs }]) => atMs));
        const ids = written.map(([id]) => id);
        await db.updateTable("local_sessions").set({ checked_at_ms, told }).where("id", "in", ids).execute();
      }
    }
  } catch (failure) {
    log().warn({ err: failure }, "the last checks of apps could not be recorded");
  }
}
