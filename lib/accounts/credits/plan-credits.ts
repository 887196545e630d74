import { maxThousandths, toCredits, writeCreditEntry } from "@/lib/accounts/credits/ledger";
import { hourMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import { ledgerTransaction } from "@/lib/db/ledger-transaction";
import type { Db } from "@/lib/db/store";
import { isOutage } from "@/lib/db/store-outage";
import type { Tables } from "@/lib/db/tables";
import { type CreditSource, giveMonths, nextStart } from "@/lib/plans/credit-months";
import { type Plans, readPlans } from "@/lib/plans/plan";
import { listPlanSubscriptions } from "@/lib/plans/plan-prices";
import { isStripeUnread } from "@/lib/plans/purchases";
import { readAfter } from "@/lib/plans/terms";
import { log } from "@/lib/runtime/log";

const atOnce = 100;
const batchesAtMost = 20;

type Account = Tables["accounts"];

/**
 * Gives an account what its plan gives by the month, as far as that is due, in the caller's transaction, which locks the
 * account: the month that was given is stored with the entry, so each is given once by however many instances, and a store
 * that is restored has both as they were.
 *
 * @param untilMs - what was due by then, if that was earlier
 */
export async function givePlanCredits(
  transaction: Db,
  { accountId, plans, untilMs: dueByMs }: { accountId: string; plans: Plans; untilMs?: number },
  nowMs: number,
): Promise<void> {
  const untilMs = dueByMs ?? nowMs;
  const account = await accountBy(transaction, "id", accountId).selectAll().forUpdate().executeTakeFirst();
  if (!account) return;
  const sources = await readSources(transaction, account, plans, untilMs);
  if (!sources) return void (await setDue(transaction, accountId, nowMs + hourMs));
  const known = await readMonth(transaction, account);
  const { month, given, dueMs } = giveMonths(known, sources, untilMs);
  if (month)
    await transaction
      .insertInto("credit_months")
      .values({ account_id: accountId, ...month })
      .onConflict((conflict) => conflict.column("account_id").doUpdateSet(month))
      .execute();
  if (dueMs !== account.credits_due_ms) await setDue(transaction, accountId, dueMs);
  let left = maxThousandths - account.credit_thousandths;
  for (const { plan, isMore, ...one } of given) {
    const thousandths = Math.min(one.thousandths, left);
    left -= thousandths;
    const reason = `${isMore ? "more credits" : "credits"} of the month, ${plan.title}`;
    if (thousandths > 0)
      await writeCreditEntry(transaction, { account_id: accountId, thousandths, reason }, nowMs);
  }
}

/** Gives what an account had missed by `untilMs`, before its transaction takes away what gave it: we may have been away. */
export async function giveMissedCredits(
  transaction: Db,
  { id, credits_due_ms }: Pick<Account, "id" | "credits_due_ms">,
  untilMs: number,
  nowMs: number,
): Promise<void> {
  if (credits_due_ms === null || credits_due_ms > untilMs) return;
  await givePlanCredits(transaction, { accountId: id, plans: await readPlans(transaction), untilMs }, nowMs);
}

/**
 * Gives what is due by `nowMs`; for what is paid at Stripe, once Stripe was read: a restored store does not know what has ended
 * since. What fails by our mistake is tried again in an hour. Throws in an outage of the store.
 */
export async function giveDueCredits(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  const isUnread = await isStripeUnread(db, nowMs);
  for (let batch = 0; batch < batchesAtMost; batch++) {
    const due = await db
      .selectFrom("accounts")
      .select("id")
      .where("credits_due_ms", "<=", nowMs)
      .$if(isUnread, (query) => query.where("paid_plan", "is", null))
      .orderBy("credits_due_ms")
      .limit(atOnce)
      .execute();
    if (due.length === 0) return;
    const plans = await readPlans(db);
    for (const { id } of due) {
      if (signal?.aborted) return;
      try {
        await ledgerTransaction(db, (transaction) =>
          givePlanCredits(transaction, { accountId: id, plans }, nowMs),
        );
      } catch (failure) {
        if (isOutage(failure)) throw failure;
        await setDue(db, id, nowMs + hourMs);
        log().error(
          { err: failure, account: id },
          "a plan's credits could not be given; they are in an hour",
        );
      }
    }
    if (due.length < atOnce) return;
  }
}

/** When an account gets credits of its plan next, and how many; `undefined` if none are to come as things are. */
export async function readNextCredits(
  db: Db,
  accountId: string,
  nowMs: number,
): Promise<{ atMs: number; credits: number } | undefined> {
  const account = await accountBy(db, "id", accountId).selectAll().executeTakeFirst();
  const month = account && (await readMonth(db, account));
  if (!month) return undefined;
  const sources = (await readSources(db, account, await readPlans(db), nowMs)) ?? [];
  const atMs = nextStart(sources, month.anchor_ms, month.starts_ms);
  const next = sources
    .filter(({ fromMs, untilMs, renews }) => atMs > nowMs && fromMs <= atMs && (atMs < untilMs || renews))
    .toSorted((one, other) => other.plan.position - one.plan.position)[0];
  const credits = next && toCredits(next.plan.credit_thousandths);
  return credits ? { atMs, credits } : undefined;
}

const setDue = (db: Db, id: string, credits_due_ms: number | null) =>
  db.updateTable("accounts").set({ credits_due_ms }).where("id", "=", id).execute();

async function readMonth(db: Db, { id, credits_due_ms }: Account) {
  const months = db.selectFrom("credit_months").where("account_id", "=", id);
  const month = await months
    .select(["anchor_ms", "starts_ms", "plan", "thousandths", "is_paid", "is_unpaid"])
    .executeTakeFirst();
  return month && { ...month, isWaiting: credits_due_ms === null };
}

type Source = CreditSource & { renews: boolean };

/** What may give an account credits; `undefined` if a plan of it cannot be read. */
async function readSources(
  db: Db,
  account: Account,
  plans: Plans,
  nowMs: number,
): Promise<Source[] | undefined> {
  const subscriptions = await listPlanSubscriptions(db, account.id);
  const sources = subscriptions.flatMap((row) => {
    const { status, cycle_anchor_ms: anchorMs, period_starts_ms: periodMs, unpaid_since_ms } = row;
    if (anchorMs === null || periodMs === null) return [];
    const goesOn = ["active", "trialing", "gone"].includes(status) && row.licence_until_ms > 0;
    return [
      {
        plan: plans.get(row.plan ?? "licensed"),
        fromMs: Math.max(row.created_at_ms, anchorMs <= nowMs ? anchorMs : 0),
        untilMs: Math.min(row.licence_until_ms, unpaid_since_ms ?? row.period_ends_ms),
        renews: goesOn && unpaid_since_ms === null && (row.ends_at_ms ?? Infinity) > row.period_ends_ms,
        ofStripe: { anchorMs, periodMs, isFree: status === "trialing", isStopped: !goesOn },
      },
    ];
  });
  const { given_ends_at_ms, created_at_ms } = account;
  const after = given_ends_at_ms === null ? undefined : readAfter(account)?.has;
  const free = (terms: FreeTerms, fromMs: number, endsMs = Number.POSITIVE_INFINITY) => {
    const name = freePlanOf(terms);
    const trialMs = (terms.plan === "trial" && terms.trial_ends_at_ms) || Number.POSITIVE_INFINITY;
    const source = { fromMs, untilMs: Math.min(trialMs, endsMs), renews: false };
    return name === null ? [] : [{ plan: plans.get(name), ...source }];
  };
  const all = [
    ...sources,
    ...free(account, created_at_ms, given_ends_at_ms ?? undefined),
    ...(after ? free(after, given_ends_at_ms ?? 0) : []),
  ];
  return all.every((source): source is Source => source.plan !== undefined) ? all : undefined;
}

type FreeTerms = Pick<Account, "plan" | "given_plan" | "paid_plan" | "trial_ends_at_ms">;

/** The plan that an account has without paying; null if it has none. A licence of which no more is known does not name it. */
function freePlanOf({ plan, given_plan, paid_plan }: FreeTerms): string | null {
  if (plan !== "licensed") return plan;
  return given_plan ?? (paid_plan === null ? plan : null);
}
