import type { Command } from "commander";
import { sql } from "kysely";
import { countWaiting } from "@/lib/accounts/waitlist";
import { type Run, withExamples } from "@/lib/admin/command";
import { asInstant, asIso, asLines, asTable } from "@/lib/admin/print";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";

const maxTrials = 100;

/** `overview`. */
export function addOverviewCommand(program: Command, run: Run): void {
  withExamples(program.command("overview"), "overview")
    .description("the accounts by plan, the trials that end this week, the waitlist and the mails")
    .action(
      run(async (db) => {
        const nowMs = Date.now();
        const json = await readOverview(db, nowMs);
        const { accounts, trialsEnding, ...counts } = json;
        const rows = trialsEnding.map(({ email, endsAt }) => ({ email, endsAt: asInstant(endsAt, nowMs) }));
        const trials = asTable(rows, "No trial ends within 7 days.");
        return { json, text: `${asLines({ ...accounts, ...counts })}\n\n${trials}` };
      }),
    );
}

/** Counts the accounts by plan and state, and what wants an operator's attention. Lists at most 100 ending trials. */
export async function readOverview(db: Db, nowMs: number) {
  const plans = await db
    .selectFrom("accounts")
    .select((expression) => [
      "plan",
      expression.fn.countAll<number>().as("all"),
      sql<number>`count(case when trial_ends_at_ms <= ${sql.lit(nowMs)} then 1 end)`.as("ended"),
    ])
    .groupBy("plan")
    .execute();
  const of = (plan: string) => plans.find((row) => row.plan === plan) ?? { all: 0, ended: 0 };
  const trials = of("trial");
  const sinceMs = nowMs - 30 * dayMs;
  const failedOnboarding = db
    .selectFrom("onboarding_emails")
    .where("state", "=", "failed")
    .where("next_attempt_at_ms", ">=", sinceMs);
  const failedSignIn = db
    .selectFrom("sign_in_mail_attempts")
    .where("state", "=", "failed")
    .where("at_ms", ">=", sinceMs);
  const unsubscribed = db.selectFrom("email_suppressions").where("created_at_ms", ">=", sinceMs);
  const counts = await db
    .selectNoFrom(({ fn }) => [
      failedOnboarding.select(fn.countAll<number>().as("count")).as("onboarding"),
      failedSignIn.select(fn.countAll<number>().as("count")).as("signIn"),
      unsubscribed.select(fn.countAll<number>().as("count")).as("unsubscribed"),
    ])
    .executeTakeFirstOrThrow();
  const ending = await db
    .selectFrom("accounts")
    .select(["email", "trial_ends_at_ms"])
    .where("plan", "=", "trial")
    .where("trial_ends_at_ms", ">", nowMs)
    .where("trial_ends_at_ms", "<=", nowMs + 7 * dayMs)
    .orderBy("trial_ends_at_ms")
    .limit(maxTrials)
    .execute();
  return {
    accounts: {
      trials: Number(trials.all) - Number(trials.ended),
      endedTrials: Number(trials.ended),
      licensed: Number(of("licensed").all),
      hobby: Number(of("hobby").all),
    },
    waiting: await countWaiting(db),
    mailsFailedIn30Days: Number(counts.onboarding) + Number(counts.signIn),
    unsubscribedIn30Days: Number(counts.unsubscribed),
    trialsEnding: ending.map(({ email, trial_ends_at_ms }) => ({ email, endsAt: asIso(trial_ends_at_ms) })),
  };
}
