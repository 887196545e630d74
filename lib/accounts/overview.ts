import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type SelectQueryBuilder, sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { countSealedMails } from "@/lib/mail/outbox";

const maxTrials = 100;

/** Counts the accounts by plan and state, and what wants an operator's attention. Lists at most 100 ending trials. */
export async function readOverview(db: Db, nowMs: number) {
  const sinceMs = nowMs - 30 * dayMs;
  const firstDay = Math.floor(nowMs / dayMs) - 29;
  const count = sql<number>`count(*)`.as("count");
  const trials = db.selectFrom("accounts").select(count).where(sql`plan`, "=", sql`'trial'`); // as in the partial index
  // The embedded store answers nothing else during a statement: others get their turn after each.
  const running = await trials.where("trial_ends_at_ms", ">", nowMs).executeTakeFirstOrThrow();
  await yieldToEventLoop();
  const ended = await trials.where("trial_ends_at_ms", "<=", nowMs).executeTakeFirstOrThrow();
  await yieldToEventLoop();
  const others = await db
    .selectFrom("accounts")
    .select(["plan", count])
    .where(sql`plan`, "<>", sql`'trial'`) // as in the partial index
    .groupBy("plan")
    .execute();
  await yieldToEventLoop();
  const days = await readInOneQuery(db, {
    signIns: perDay(db.selectFrom("audit_entries").where("what", "=", "sign in"), "at_ms", firstDay),
    newAccounts: perDay(db.selectFrom("accounts"), "created_at_ms", firstDay),
    unsubscribes: perDay(db.selectFrom("email_suppressions"), "created_at_ms", firstDay),
  });
  await yieldToEventLoop();
  const found = await readInOneQuery(db, {
    waiting: db
      .selectFrom("waitlist")
      .select(({ fn }) => [count, fn.min<number | null>("joined_at_ms").as("oldest_at_ms")])
      .where("invited_at_ms", "is", null),
    failedOnboarding: db
      .selectFrom("onboarding_emails")
      .select(count)
      .where(sql`state`, "=", sql`'failed'`) // as in the partial index
      .where("next_attempt_at_ms", ">=", sinceMs),
    failedSignIn: db
      .selectFrom("sign_in_mail_attempts")
      .select(count)
      .where("state", "=", "failed")
      .where(sql`state`, "<>", sql`'sent'`) // as in the partial index
      .where("at_ms", ">=", sinceMs),
    unsubscribed: db.selectFrom("email_suppressions").select(count).where("created_at_ms", ">=", sinceMs),
    ending: db
      .selectFrom("accounts")
      .select(["email", "trial_ends_at_ms"])
      .where(sql`plan`, "=", sql`'trial'`) // as in the partial index
      .where("trial_ends_at_ms", ">", nowMs)
      .where("trial_ends_at_ms", "<=", nowMs + 7 * dayMs)
      .orderBy("trial_ends_at_ms")
      .limit(maxTrials),
    pastDue: db
      .selectFrom("billing_subscriptions")
      .select(count)
      .where("status", "in", ["past_due", "unpaid"]),
    gone: db.selectFrom("billing_subscriptions").select(count).where("status", "=", "gone"),
    unsettled: db
      .selectFrom("billing_checkouts")
      .select(count)
      .where(sql`state`, "in", sql`('open', 'unpaid')`) // as in the partial index
      .where("created_at_ms", ">", nowMs - 15 * dayMs)
      .where("created_at_ms", "<", nowMs - dayMs),
    orphaned: toldOf(db, ["purchase without account", "subscription for another price"], sinceMs),
    returned: toldOf(db, returnedPayments, sinceMs),
    twice: toldOf(db, ["second subscription"], sinceMs),
    apps: db
      .selectFrom("local_sessions")
      .select(count)
      .where(sql`kind`, "=", sql`'app'`) // as in the partial index
      .where("expires_at_ms", ">", nowMs),
  });
  const sumOf = (rows: { count: number }[]) => rows.reduce((sum, row) => sum + Number(row.count), 0);
  const { lost } = await countSealedMails(db);
  const countOf = (plan: string) => Number(others.find((row) => row.plan === plan)?.count ?? 0);
  return {
    accounts: {
      trials: Number(running.count),
      endedTrials: Number(ended.count),
      licensed: countOf("licensed"),
      hobby: countOf("hobby"),
    },
    waiting: sumOf(found.waiting),
    oldestWaitingAtMs: found.waiting[0]?.oldest_at_ms ?? null,
    connectedApps: sumOf(found.apps),
    mailsFailedIn30Days: sumOf([...found.failedOnboarding, ...found.failedSignIn]),
    /** Waiting mails that this process cannot open, because another `APP_SECRET` sealed them. */
    mailsNotOpened: lost,
    unsubscribedIn30Days: sumOf(found.unsubscribed),
    billing: {
      pastDue: sumOf(found.pastDue),
      unknownToStripe: sumOf(found.gone),
      unsettledForADay: sumOf(found.unsettled),
      orphanedIn30Days: sumOf(found.orphaned),
      returnedIn30Days: sumOf(found.returned),
      twiceIn30Days: sumOf(found.twice),
    },
    trialsEnding: found.ending.map(({ email, trial_ends_at_ms }) => ({
      email,
      endsAt: asIso(trial_ends_at_ms),
    })),
    days: {
      signIns: toDays(days.signIns, firstDay),
      newAccounts: toDays(days.newAccounts, firstDay),
      unsubscribes: toDays(days.unsubscribes, firstDay),
    },
  };
}

/** What the audit says of payments that came back, or of credits that could not. */
const returnedPayments = [
  "subscription refunded",
  "credits refunded",
  "credits dispute lost",
  "credits refund failed",
  "credits not taken back",
];

function toldOf(db: Db, whats: string[], sinceMs: number) {
  const entries = db.selectFrom("audit_entries").select(sql<number>`count(*)`.as("count"));
  return entries.where("what", "in", whats).where("at_ms", ">=", sinceMs);
}

/** Counts rows by day (since 1970, in UTC) from the first day on. */
function perDay<Table extends keyof Tables>(
  rows: SelectQueryBuilder<Tables, Table, object>,
  column: string,
  firstDay: number,
) {
  const day = sql<number>`${sql.ref(column)} / ${sql.lit(dayMs)}`;
  return rows
    .select([day.as("day"), sql<number>`count(*)`.as("count")])
    .where(sql<number>`${sql.ref(column)}`, ">=", firstDay * dayMs)
    .groupBy(day);
}

function toDays(found: { day: number; count: number }[], firstDay: number): number[] {
  return Array.from({ length: 30 }, (_, at) => found.find(({ day }) => day === firstDay + at)?.count ?? 0);
}
