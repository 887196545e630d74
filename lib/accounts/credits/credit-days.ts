import { sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";

/** How many of the latest entries are added up: more are not read for a page. */
export const maxAddedUp = 2000;

/** What each day used of an account's credits and what it got, in thousandths. A day is of UTC, in days since 1970. */
export type CreditDays = Awaited<ReturnType<typeof readCreditDays>>;

/**
 * Adds up the latest entries of an account since the day `since`, for each day that has some, the earliest first. What was
 * given back is taken off the day that used it. `job`: the least and the most that a backend took for one, in thousandths, if
 * it took any. `isCut` if there were more entries than are added up.
 */
export async function readCreditDays(db: Db, accountId: string, since: number) {
  const latest = db
    .selectFrom("credit_entries")
    .select([
      sql<number>`created_at_ms / 86400000`.as("day"),
      sql<number>`CASE WHEN thousandths < 0 THEN -thousandths - reversed_thousandths ELSE 0 END`.as("used"),
      sql<number>`CASE WHEN thousandths > 0 AND reverses IS NULL THEN thousandths ELSE 0 END`.as("got"),
      sql<number>`CASE WHEN backend_id IS NOT NULL AND -thousandths > reversed_thousandths THEN -thousandths - reversed_thousandths END`.as(
        "job",
      ),
    ])
    .where("account_id", "=", accountId)
    .where("created_at_ms", ">=", since * dayMs)
    .orderBy("created_at_ms", "desc")
    .limit(maxAddedUp);
  const rows = await db
    .selectFrom(latest.as("entries"))
    .select(({ fn }) => [
      "day",
      fn.sum<number>("used").as("used"),
      fn.sum<number>("got").as("got"),
      fn.min<number | null>("job").as("least"),
      fn.max<number | null>("job").as("most"),
      fn.countAll<number>().as("count"),
    ])
    .groupBy("day")
    .orderBy("day")
    .execute();
  const count = rows.reduce((sum, row) => sum + Number(row.count), 0);
  const days = rows.map((row) => ({ day: Number(row.day), used: Number(row.used), got: Number(row.got) }));
  const jobs = rows.flatMap(({ least, most }) => (least === null ? [] : [Number(least), Number(most)]));
  const job = jobs.length > 0 ? { least: Math.min(...jobs), most: Math.max(...jobs) } : undefined;
  return { days, job, isCut: count >= maxAddedUp };
}
