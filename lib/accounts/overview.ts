import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type SelectQueryBuilder, sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { countSealedMails } from "@/lib/mail/outbox";

const maxTrials = 100;
const count = sql<number>`count(*)`.as("count");

/** Counts the accounts by plan and state, and what wants an operator's attention. Lists at most 100 ending trials. */
export async function readOverview(db: Db, nowMs: number) {
  const sinceMs = nowMs - 30 * dayMs;
  const firstDay = Math.floor(nowMs / dayMs) - 29;
  const accounts = db.selectFrom("accounts");
  const trials = accounts.where(sql`plan`, "=", sql`'trial'`); // as in the partial index
  const subscriptions = db.selectFrom("billing_subscriptions").select(count);
  const audited = (...whats: string[]) =>
    db.selectFrom("audit_entries").select(count).where("what", "in", whats).where("at_ms", ">=", sinceMs);
  const byPlan = await countEach({
    trials: trials.select(count).where("trial_ends_at_ms", ">", nowMs),
    endedTrials: trials.select(count).where("trial_ends_at_ms", "<=", nowMs),
    licensed: accounts.select(count).where("plan", "=", "licensed"),
    hobby: accounts.select(count).where("plan", "=", "hobby"),
  });
  const billing = await countEach({
    pastDue: subscriptions.where("status", "in", ["past_due", "unpaid"]),
    unknownToStripe: subscriptions.where("status", "=", "gone"),
    unsettledForADay: db
      .selectFrom("billing_checkouts")
      .select(count)
      .where(sql`state`, "in", sql`('open', 'unpaid')`) // as in the partial index
      .where("created_at_ms", ">", nowMs - 15 * dayMs)
      .where("created_at_ms", "<", nowMs - dayMs),
    orphanedIn30Days: audited("purchase without account", "subscription for another price"),
    // Payments that came back, or credits that could not.
    returnedIn30Days: audited(
      "subscription refunded",
      "credits refunded",
      "credits dispute lost",
      "credits refund failed",
      "credits not taken back",
    ),
    twiceIn30Days: audited("second subscription"),
  });
  const others = await countEach({
    failedOnboarding: db
      .selectFrom("onboarding_emails")
      .select(count)
      .where(sql`state`, "=", sql`'failed'`) // as in the partial index
      .where("next_attempt_at_ms", ">=", sinceMs),
    failedOthers: db
      .selectFrom("sign_in_mail_attempts")
      .select(count)
      .where("state", "=", "failed")
      .where(sql`state`, "<>", sql`'sent'`) // as in the partial index
      .where("at_ms", ">=", sinceMs),
    unsubscribed: db.selectFrom("email_suppressions").select(count).where("created_at_ms", ">=", sinceMs),
    apps: db
      .selectFrom("local_sessions")
      .select(count)
      .where(sql`kind`, "=", sql`'app'`) // as in the partial index
      .where("expires_at_ms", ">", nowMs),
  });
  const days = await readInOneQuery(db, {
    signIns: perDay(db.selectFrom("audit_entries").where("what", "=", "sign in"), "at_ms", firstDay),
    newAccounts: perDay(accounts, "created_at_ms", firstDay),
    unsubscribes: perDay(db.selectFrom("email_suppressions"), "created_at_ms", firstDay),
  });
  await yieldToEventLoop();
  const waiting = await db
    .selectFrom("waitlist")
    .select(({ fn }) => [count, fn.min<number | null>("joined_at_ms").as("oldest_at_ms")])
    .where("invited_at_ms", "is", null)
    .executeTakeFirstOrThrow();
  const ending = await trials
    .select(["email", "trial_ends_at_ms"])
    .where("trial_ends_at_ms", ">", nowMs)
    .where("trial_ends_at_ms", "<=", nowMs + 7 * dayMs)
    .orderBy("trial_ends_at_ms")
    .limit(maxTrials)
    .execute();
  return {
    accounts: byPlan,
    waiting: Number(waiting.count),
    oldestWaitingAtMs: waiting.oldest_at_ms,
    connectedApps: others.apps,
    mailsFailedIn30Days: others.failedOnboarding + others.failedOthers,
    /** Waiting mails that this process cannot open, because another `APP_SECRET` sealed them. */
    mailsNotOpened: (await countSealedMails(db)).lost,
    unsubscribedIn30Days: others.unsubscribed,
    billing,
    trialsEnding: ending.map(({ email, trial_ends_at_ms }) => ({ email, endsAt: asIso(trial_ends_at_ms) })),
    days: {
      signIns: toDays(days.signIns, firstDay),
      newAccounts: toDays(days.newAccounts, firstDay),
      unsubscribes: toDays(days.unsubscribes, firstDay),
    },
  };
}

type Count = { executeTakeFirstOrThrow: () => Promise<{ count: number }> };

/** Runs one count after the other: the embedded store answers nothing else during one, so others get their turn between. */
async function countEach<Name extends string>(queries: Record<Name, Count>): Promise<Record<Name, number>> {
  const counts = {} as Record<Name, number>;
  for (const [name, query] of Object.entries<Count>(queries)) {
    counts[name as Name] = Number((await query.executeTakeFirstOrThrow()).count);
    await yieldToEventLoop();
  }
  return counts;
}

function perDay<Table extends keyof Tables>(
  rows: SelectQueryBuilder<Tables, Table, object>,
  column: string,
  firstDay: number,
) {
  const day = sql<number>`${sql.ref(column)} / ${sql.lit(dayMs)}`;
  return rows
    .select([day.as("day"), count])
    .where(sql<number>`${sql.ref(column)}`, ">=", firstDay * dayMs)
    .groupBy(day);
}

function toDays(found: { day: number; count: number }[], firstDay: number): number[] {
  return Array.from({ length: 30 }, (_, at) => found.find(({ day }) => day === firstDay + at)?.count ?? 0);
}
