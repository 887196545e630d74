import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type SelectQueryBuilder, sql } from "kysely";
import { type CustomerFilter, countCustomers, customerFilters } from "@/lib/accounts/list/customer-list";
import { dayMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import { isSomeones } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { countSealedMails } from "@/lib/mail/outbox/outbox";
import { readPlans } from "@/lib/plans/plan";
import { listPlanPrices, planOfPrice } from "@/lib/plans/plan-prices";

export const maxTrials = 100;
const recentMs = 30 * dayMs;
const count = sql<number>`count(*)`.as("count");

/**
 * Counts the accounts by plan and state, and what wants an operator's attention. Lists at most 100 ending trials. It runs
 * one query after the other: the embedded store answers nothing else during one, so others get their turn between.
 */
export async function readOverview(db: Db, nowMs: number) {
  const sinceMs = nowMs - recentMs;
  const accounts = db.selectFrom("accounts");
  const trials = accounts.where(sql`plan`, "=", sql`'trial'`); // as in the partial index
  const suppressions = db.selectFrom("email_suppressions");
  const waiting = await inTurn(
    db
      .selectFrom("waitlist")
      .select(({ fn }) => [count, fn.min<number | null>("joined_at_ms").as("oldest_at_ms")])
      .where("invited_at_ms", "is", null),
  );
  const ending = await inTurn(
    trials
      .select(["email", "trial_ends_at_ms"])
      .where("trial_ends_at_ms", ">", nowMs)
      .where("trial_ends_at_ms", "<=", nowMs + 7 * dayMs)
      .orderBy("trial_ends_at_ms")
      .limit(maxTrials),
  );
  return {
    accounts: {
      trials: await countOf(trials.where("trial_ends_at_ms", ">", nowMs)),
      endedTrials: await countOf(trials.where("trial_ends_at_ms", "<=", nowMs).where(isSomeones)),
      licensed: await countOf(accounts.where("plan", "=", "licensed")),
      hobby: await countOf(accounts.where("plan", "=", "hobby")),
    },
    waiting: Number(waiting[0]?.count),
    oldestWaitingAtMs: waiting[0]?.oldest_at_ms ?? null,
    connectedApps: await countOf(
      db
        .selectFrom("local_sessions")
        .where(sql`kind`, "=", sql`'app'`) // as in the partial index
        .where("expires_at_ms", ">", nowMs),
    ),
    mailsFailedIn30Days: await countFailedMails(db, sinceMs),
    /** Waiting mails that this process cannot open, because another `APP_SECRET` sealed them. */
    mailsNotOpened: (await countSealedMails(db)).lost,
    unsubscribedIn30Days: await countOf(suppressions.where("created_at_ms", ">=", sinceMs)),
    customers: await countFilters(db, nowMs),
    billing: await readBillingOverview(db, nowMs),
    trialsEnding: ending.map(({ email, trial_ends_at_ms }) => ({ email, endsAt: asIso(trial_ends_at_ms) })),
    days: {
      signIns: await countDays(db.selectFrom("audit_entries").where("what", "=", "sign in"), "at_ms", nowMs),
      newAccounts: await countDays(accounts, "created_at_ms", nowMs),
      unsubscribes: await countDays(suppressions, "created_at_ms", nowMs),
    },
  };
}

async function countFailedMails(db: Db, sinceMs: number): Promise<number> {
  const onboarding = db
    .selectFrom("onboarding_emails")
    .where(sql`state`, "=", sql`'failed'`) // as in the partial index
    .where("next_attempt_at_ms", ">=", sinceMs);
  const others = db
    .selectFrom("sign_in_mail_attempts")
    .where("state", "=", "failed")
    .where(sql`state`, "<>", sql`'sent'`) // as in the partial index
    .where("at_ms", ">=", sinceMs);
  return (await countOf(onboarding)) + (await countOf(others));
}

/** What wants an operator's attention about purchases. */
async function readBillingOverview(db: Db, nowMs: number) {
  const subscriptions = db.selectFrom("billing_subscriptions");
  const sinceMs = nowMs - recentMs;
  const audited = (...whats: string[]) =>
    countOf(db.selectFrom("audit_entries").where("what", "in", whats).where("at_ms", ">=", sinceMs));
  const prices = await listPlanPrices(db, await readPlans(db));
  const listed = (settings().billing?.licencePrices ?? []).filter((id) => !planOfPrice(prices, id));
  const sold = [...listed, ...prices.filter(({ isSold }) => isSold).map(({ id }) => id), ""];
  return {
    unclaimed: await countOf(db.selectFrom("billing_unclaimed")),
    unknownToStripe: await countOf(subscriptions.where("status", "=", "gone")),
    unsettledForADay: await countOf(
      db
        .selectFrom("billing_checkouts")
        .where(sql`state`, "in", sql`('open', 'unpaid')`) // as in the partial index
        .where("created_at_ms", ">", nowMs - 15 * dayMs)
        .where("created_at_ms", "<=", nowMs - dayMs),
    ),
    orphanedIn30Days: await audited("purchase without account", "subscription for another price"),
    retiredPrices: await inTurn(
      subscriptions
        .select(["price_id as id", count])
        .where(sql`licence_until_ms`, ">", sql`0`) // as in the partial index
        .where("price_id", "not in", sold)
        .groupBy("price_id")
        .orderBy("price_id"),
    ),
    // Payments that came back, or credits that could not.
    returnedIn30Days: await audited(
      "subscription refunded",
      "credits refunded",
      "credits dispute lost",
      "credits dispute won",
      "credits refund failed",
      "credits not taken back",
    ),
    twiceIn30Days: await audited("second subscription"),
  };
}

async function countFilters(db: Db, nowMs: number): Promise<Record<CustomerFilter, number>> {
  const counted: Partial<Record<CustomerFilter, number>> = {};
  for (const filter of Object.keys(customerFilters) as CustomerFilter[]) {
    const [found] = await inTurn(countCustomers(db, filter, nowMs));
    counted[filter] = Number(found?.count);
  }
  return counted as Record<CustomerFilter, number>;
}

type Rows<Table extends keyof Tables> = SelectQueryBuilder<Tables, Table, object>;

async function countOf<Table extends keyof Tables>(rows: Rows<Table>): Promise<number> {
  const [found] = await inTurn(rows.select(count));
  return Number(found?.count);
}

/** Counts the rows of each of the last 30 days, the last one today. */
async function countDays<Table extends keyof Tables>(rows: Rows<Table>, column: string, nowMs: number) {
  const firstDay = Math.floor(nowMs / dayMs) - 29;
  const day = sql<number>`${sql.ref(column)} / ${sql.lit(dayMs)}`;
  const since = sql<number>`${sql.ref(column)}`;
  const found = await inTurn(
    rows
      .select([day.as("day"), count])
      .where(since, ">=", firstDay * dayMs)
      .groupBy(day),
  );
  return Array.from({ length: 30 }, (_, at) => found.find(({ day }) => day === firstDay + at)?.count ?? 0);
}

async function inTurn<Row>(query: { execute: () => Promise<Row[]> }): Promise<Row[]> {
  await yieldToEventLoop();
  return query.execute();
}
