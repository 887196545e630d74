import { dayMs, describeSeconds } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";

/* Every instance writes what it sees of its parts; an outage ends when no instance has seen it for a while. */

/** An outage of a part; it goes on if `ended_at_ms` is null. */
export type Outage = Pick<Tables["status_outages"], "part" | "started_at_ms" | "ended_at_ms">;

export const outageDays = 90;

const unseenForMs = 30_000; // 30 seconds: three rounds of every instance
const joinedWithinMs = 10 * 60_000; // 10 minutes: a part that comes and goes has one outage
/** How many outages are listed, and from how many the days are drawn: a part that comes and goes has one in ten minutes. */
export const maxListed = 50;
const maxRead = 1000;

/** The outages that this process saw and could not write yet, by part. */
export type Unwritten = Map<string, { startedAtMs: number; seenAtMs: number }>;

/** Writes what is seen, and ends what no instance sees. `unwritten` keeps what was seen while the store failed. */
export async function recordOutages(
  db: () => Promise<Db>,
  parts: { name: string; isOutage?: true }[],
  unwritten: Unwritten,
  nowMs: number,
): Promise<void> {
  for (const { name, isOutage } of parts) {
    if (!isOutage) continue;
    unwritten.set(name, { startedAtMs: unwritten.get(name)?.startedAtMs ?? nowMs, seenAtMs: nowMs });
  }
  await transact(await db(), async (transaction) => {
    await transaction
      .updateTable("status_outages")
      .set(({ ref }) => ({ ended_at_ms: ref("seen_at_ms") }))
      .where("ended_at_ms", "is", null)
      .where("seen_at_ms", "<=", nowMs - unseenForMs)
      .execute();
    for (const [part, seen] of unwritten) await write(transaction, part, seen, nowMs);
    await transaction
      .deleteFrom("status_outages")
      .where("seen_at_ms", "<=", nowMs - outageDays * dayMs)
      .execute();
  });
  unwritten.clear();
}

/** Continues the part's newest outage if it was seen shortly before, or begins one. */
async function write(
  transaction: Db,
  part: string,
  { startedAtMs, seenAtMs }: { startedAtMs: number; seenAtMs: number },
  nowMs: number,
): Promise<void> {
  const newest = await transaction
    .selectFrom("status_outages")
    .select(["started_at_ms", "seen_at_ms"])
    .where("part", "=", part)
    .orderBy("started_at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  const isSame = newest !== undefined && newest.seen_at_ms > startedAtMs - joinedWithinMs;
  const seen_at_ms = isSame ? Math.max(seenAtMs, newest.seen_at_ms) : seenAtMs;
  const state = { seen_at_ms, ended_at_ms: seen_at_ms <= nowMs - unseenForMs ? seen_at_ms : null };
  if (isSame) {
    await transaction
      .updateTable("status_outages")
      .set(state)
      .where("part", "=", part)
      .where("started_at_ms", "=", newest.started_at_ms)
      .execute();
    return;
  }
  await transaction
    .insertInto("status_outages")
    .values({ part, started_at_ms: startedAtMs, ...state })
    // Another instance was first: a part has one outage at a time.
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** For example `3 minutes`, `18 hours 21 minutes`. */
export function describeLength(ms: number): string {
  if (ms < 60_000) return "under a minute";
  const minutes = Math.round(ms / 60_000);
  const rest = minutes > 120 ? minutes % 60 : 0;
  return [minutes - rest, rest]
    .filter((some) => some > 0)
    .map((some) => describeSeconds(some * 60))
    .join(" ");
}

/** Lists the newest outages of the last 90 days. */
export function listOutages(db: Db, nowMs: number, most = maxRead): Promise<Outage[]> {
  return db
    .selectFrom("status_outages")
    .select(["part", "started_at_ms", "ended_at_ms"])
    .where("seen_at_ms", ">", nowMs - outageDays * dayMs)
    .orderBy("started_at_ms", "desc")
    .orderBy("part")
    .limit(most)
    .execute();
}

/** How long a part was out on each of the last 90 days in UTC, in milliseconds, today last. One that goes on counts until now. */
export function sumByDay(outages: readonly Outage[], part: string, nowMs: number): number[] {
  const tomorrowMs = (Math.floor(nowMs / dayMs) + 1) * dayMs;
  return Array.from({ length: outageDays }, (_, at) => {
    const fromMs = tomorrowMs - (outageDays - at) * dayMs;
    return outages
      .filter((outage) => outage.part === part)
      .map(({ started_at_ms, ended_at_ms }) => {
        const lastMs = Math.min(ended_at_ms ?? nowMs, fromMs + dayMs);
        // One that was seen once has no length, and counts all the same.
        const isOn = started_at_ms < fromMs + dayMs && (ended_at_ms ?? nowMs) >= fromMs;
        return isOn ? Math.max(1, lastMs - Math.max(started_at_ms, fromMs)) : 0;
      })
      .reduce((sum, ms) => sum + ms, 0);
  });
}
