import { setTimeout as sleep } from "node:timers/promises";
import { keepAppAnswers } from "@/lib/auth/sessions/app-answers";
import { clientNetwork, networksOf, recordNetwork } from "@/lib/auth/sessions/session-network";
import { dayMs } from "@/lib/config/durations";
import { sessionDays } from "@/lib/config/lifetimes";
import { store } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import { perProcess } from "@/lib/per-process";
import type { Client } from "@/lib/rate-limit/client";
import { afterResponse } from "@/lib/runtime/after-response";
import { log } from "@/lib/runtime/log";
import { RecentCache } from "@/lib/runtime/recent-cache";

/* What the use of a session leaves in its row. No caller waits for it. */

const seenEveryMs = 60 * 60 * 1000; // 1 hour
const checkedEveryMs = 60_000; // 1 minute
const maxRemembered = 10_000;
const recordedUses = perProcess("sessions seen", () => new RecentCache<number>(maxRemembered, seenEveryMs));

const batchEveryMs = 1000;
const batchSize = 100;

/** The columns of a session that its use moves. */
export type Used = Pick<Tables["local_sessions"], "expires_at_ms" | "last_date_ms" | "last_seen_at_ms">;

/**
 * Records that a session was used at `nowMs`, which moves its end. At most one write per session and hour, also if the
 * write fails.
 *
 * @returns when it ends now
 */
export function recordSessionUse(
  id: string,
  { expires_at_ms, last_date_ms, last_seen_at_ms }: Used,
  nowMs: number,
): number {
  if (last_seen_at_ms !== null && nowMs - last_seen_at_ms < seenEveryMs) return expires_at_ms;
  // Never sooner than before: a clock that is behind, and set right later, would have ended it.
  const endsAtMs =
    last_date_ms === null
      ? expires_at_ms
      : Math.max(expires_at_ms, Math.min(nowMs + sessionDays.idle * dayMs, last_date_ms));
  if (nowMs - (recordedUses().get(id) ?? Number.NEGATIVE_INFINITY) < seenEveryMs) return endsAtMs;
  recordedUses().set(id, nowMs, nowMs);
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

const noticedEveryMs = 60_000; // 1 minute
const noticed = perProcess("networks noticed", () => new RecentCache<number>(maxRemembered, noticedEveryMs));

/**
 * Records that a browser's session was used by a client in another network than before: the copy of a cookie is. At most one
 * write per session, network and minute, also if the write fails.
 *
 * @param seen - where it was used before
 */
export function recordBrowserNetwork(
  id: string,
  seen: Pick<Tables["local_sessions"], "network" | "renewed_from">,
  client: Client,
  nowMs: number,
): void {
  const network = clientNetwork(client);
  if (network === undefined || networksOf({ ...seen, kind: "browser" })[0] === network) return;
  const key = `${id} ${network}`;
  if (nowMs - (noticed().get(key) ?? Number.NEGATIVE_INFINITY) < noticedEveryMs) return;
  noticed().set(key, nowMs, nowMs);
  store()
    .then((db) =>
      transact(db, (transaction) => recordNetwork(transaction, id, { network, isBound: false }, nowMs)),
    )
    .catch((failure) => log().warn({ err: failure }, "a session's network could not be recorded"));
}

type Check = { told: string; atMs: number; isNew: boolean };

const checks = perProcess("checks", () => ({
  recorded: new RecentCache<Check>(maxRemembered, checkedEveryMs),
  /** Checks that are not written yet, never more than are remembered. */
  waiting: new Map<string, Check>(),
}));

/**
 * Records what `GET /api/entitlement` has told an app. At most one write per session and minute, and another if it was
 * told something else; those of one second share a statement.
 *
 * @param told - the status
 */
export function recordCheck(sessionId: string, told: string, nowMs: number): void {
  const { recorded, waiting } = checks();
  const last = recorded.get(sessionId);
  if (last?.told === told && nowMs - last.atMs < checkedEveryMs) return;
  if (waiting.size >= maxRemembered) return;
  // A check stays new until it is written, also if the clock has jumped by a minute in between.
  const isNew = last?.told !== told || waiting.get(sessionId)?.isNew === true;
  const check = { told, atMs: nowMs, isNew };
  recorded.set(sessionId, check, nowMs);
  waiting.set(sessionId, check);
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
        const news = written.filter(([, { isNew }]) => isNew).map(([id]) => id);
        if (news.length > 0) await keepAppAnswers(db, news, told, checked_at_ms);
        await db.updateTable("local_sessions").set({ checked_at_ms, told }).where("id", "in", ids).execute();
      }
    }
  } catch (failure) {
    log().warn({ err: failure }, "the last checks of apps could not be recorded");
  }
}
