import { sql } from "kysely";
import { auditedAccount, findAccount, someOnPlan } from "@/lib/accounts/accounts";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { settleTerms } from "@/lib/accounts/terms/effective-terms";
import { asIso } from "@/lib/config/instants";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import {
  basePlans,
  maxContents,
  maxPlans,
  type Plan,
  type Plans,
  readPlans,
  renewVersion,
  titleOf,
} from "@/lib/plans/plan";
import { listPlanPrices, type PlanPrice, planOfPrice } from "@/lib/plans/plan-prices";

const free = ["trial", "hobby"];
const settledAtOnce = 100; // the reconciler settles the rest
const maxSettled = 10_000; // in one of its rounds
const maxSold = 20; // each is read at Stripe to show it

/** What is said of a plan; what is left out stays, or is nothing in a new one. */
export type PlanChange = {
  title?: string | undefined;
  description?: string | undefined;
  /** Titles by the features' names: all that it has. */
  features?: Record<string, string> | undefined;
  /** Only those that change; `gone` for one of which the plan says nothing any more. */
  limits?: Record<string, number | null | "gone"> | undefined;
  credit_thousandths?: number | undefined;
  /** Ids of Stripe's prices, in their order: all that are sold. */
  prices?: string[] | undefined;
  position?: number | undefined;
  isOffered?: boolean | undefined;
};

export type DescribedPlan = ReturnType<typeof describePlan>;

/** A plan as an operator sees it. */
export function describePlan(plan: Plan, prices: PlanPrice[]) {
  const { name, title, description, features, limits, credit_thousandths, position, retired_at_ms } = plan;
  const own = prices.filter((price) => price.plan.name === name);
  return {
    name,
    title,
    description,
    features,
    limits,
    creditsAMonth: toCredits(credit_thousandths),
    prices: own.filter(({ isSold }) => isSold).map(({ id }) => id),
    position,
    retiredAt: asIso(retired_at_ms),
  };
}

/** All plans as operators see them, in their order. */
export async function listPlans(db: Db) {
  const plans = await readPlans(db);
  const prices = await listPlanPrices(db, plans);
  return [...plans.values()].map((plan) => describePlan(plan, prices));
}

/** So many accounts of a plan are counted at the most. */
export const maxCounted = 10_000;

/** How many accounts have each plan, one more than {@link maxCounted} for more. */
export async function countOnPlans(db: Db, plans: string[]): Promise<Map<string, number>> {
  const counts = plans.map((name) => {
    const some = someOnPlan(db, name, maxCounted + 1).as("found");
    return [name, db.selectFrom(some).select(sql<number>`count(*)`.as("count"))] as const;
  });
  const counted = await readInOneQuery(db, Object.fromEntries(counts));
  return new Map(Object.entries(counted).map(([name, [row]]) => [name, Number(row?.count)]));
}

/** Reads a plan by its name. Throws an {@link ApiError} if there is none. */
export async function showPlan(db: Db, name: string) {
  const plan = (await listPlans(db)).find((plan) => plan.name === name);
  if (plan) return plan;
  throw new ApiError("not_found", {
    message: "There is no plan with this name.",
    hint: "See 'plan list', or make it with 'plan set'.",
  });
}

/**
 * Makes a plan or changes it, for everyone who has it: at once, and without their doing. Throws an {@link ApiError} if it
 * would be too much.
 *
 * @param requireSame - throws if the plan, or null for none, is no longer as the operator saw it
 */
export async function setPlan(
  db: Db,
  name: string,
  change: PlanChange,
  { by = "operator", requireSame }: { by?: Actor; requireSame?: (current: DescribedPlan | null) => void },
  nowMs: number,
) {
  const readState = async (transaction: Db) =>
    (await listPlans(transaction)).find((plan) => plan.name === name) ?? null;
  const about = { by, what: "plan set", whom: name, readState } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    await renewVersion(transaction);
    requireSame?.(await readState(transaction));
    const plans = await readPlans(transaction);
    const known = plans.get(name);
    if (!known && plans.size >= maxPlans) throw tooMuch(`There are ${maxPlans} plans already.`);
    const { isOffered, prices: _, features = known?.features ?? {}, ...columns } = change;
    const named = Object.entries({ ...known?.limits, ...change.limits });
    const limits = Object.fromEntries(named.filter(([, limit]) => limit !== "gone"));
    if (Object.keys({ ...features, ...limits }).length > maxContents)
      throw tooMuch(`A plan has at most ${maxContents} features and limits.`);
    if (isOffered === false && basePlans.some((base) => base === name))
      throw new ApiError("invalid_request", {
        message: `The plan ${name} is always there.`,
        hint: "Change what it contains with 'plan set'.",
      });
    if (change.prices?.length && free.includes(name))
      throw new ApiError("invalid_request", {
        message: `The plan ${name} is free.`,
        hint: "Make a plan of another name for these prices.",
      });
    const last = Math.max(...[...plans.values()].map(({ position }) => position));
    const row = {
      title: known?.title ?? titleOf(name),
      description: known?.description ?? "",
      credit_thousandths: known?.credit_thousandths ?? 0,
      position: known?.position ?? last + 1,
      ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)),
      features: JSON.stringify(features),
      limits: JSON.stringify(limits),
      ...(isOffered !== undefined && {
        retired_at_ms: isOffered ? null : (known?.retired_at_ms ?? nowMs),
      }),
    };
    await transaction
      .insertInto("plans")
      .values({ name, ...row })
      .onConflict((conflict) => conflict.column("name").doUpdateSet(row))
      .execute();
    if (change.prices) await setPrices(transaction, name, change.prices, nowMs);
    const prices = await listPlanPrices(transaction, await readPlans(transaction));
    if (prices.filter(({ isSold }) => isSold).length > maxSold)
      throw tooMuch(`At most ${maxSold} prices are sold at a time.`);
  });
  if (change.prices) await settlePayers(db, nowMs, settledAtOnce);
  return showPlan(db, name);
}

async function setPrices(transaction: Db, plan: string, ids: string[], nowMs: number): Promise<void> {
  await transaction
    .updateTable("billing_licence_prices")
    .set({ withdrawn_at_ms: nowMs })
    .where("plan", "=", plan)
    .where("withdrawn_at_ms", "is", null)
    .execute();
  for (const [place, id] of ids.entries()) {
    const row = { plan, place, withdrawn_at_ms: null };
    await transaction
      .insertInto("billing_licence_prices")
      .values({ id, ...row, assistant_limit: null, sold_at_ms: nowMs })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
  }
}

/** Gives the accounts that pay for a price the plan that it buys now. What is more than `most`, the next call does. */
export async function settlePayers(db: Db, nowMs: number, most = maxSettled): Promise<void> {
  const payers = await db
    .selectFrom("billing_subscriptions as subscription")
    .innerJoin("billing_licence_prices as price", "price.id", "subscription.price_id")
    .innerJoin("accounts", "accounts.id", "subscription.account_id")
    .select("accounts.email")
    .distinct()
    .where("subscription.licence_until_ms", ">", nowMs)
    .where("price.plan", "is not", null)
    .where((row) =>
      row.or([row("accounts.paid_plan", "is", null), row("accounts.paid_plan", "<>", row.ref("price.plan"))]),
    )
    .limit(most)
    .execute();
  for (const { email } of payers) {
    const about = { by: "service", what: "plan of a price", ...auditedAccount(email) } as const;
    await auditedTransaction(db, about, nowMs, async (transaction) =>
      settleTerms(transaction, await findAccount(transaction, email, nowMs), nowMs),
    );
  }
}

/**
 * Puts a price that is sold into a plan: one with one of these titles and this limit of assistants, or a new one with the
 * first title that no plan has. A price that has a plan keeps it.
 *
 * @param isSold - whether it is sold here, and not only elsewhere
 */
export async function addPriceToPlan(
  db: Db,
  { id, titles, limit, isSold }: { id: string; titles: string[]; limit: number | null; isSold: boolean },
  nowMs: number,
): Promise<void> {
  const limits = limit === null ? {} : { assistants: limit };
  async function readState(transaction: Db) {
    const plan = planOfPrice(await listPlanPrices(transaction, await readPlans(transaction)), id);
    return plan ? { plan: plan.name } : null;
  }
  const about = { by: "service", what: "plan of a price", whom: id, readState } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    await renewVersion(transaction);
    const plans = await readPlans(transaction);
    const prices = await listPlanPrices(transaction, plans);
    if (planOfPrice(prices, id)) return;
    const all = [...plans.values()];
    const known = all.find(
      (plan) => titles.includes(plan.title) && (plan.limits.assistants ?? null) === limit,
    );
    const title = titles.find((title) => all.every((plan) => plan.title !== title)) ?? titles[0] ?? id;
    const name = known?.name ?? unusedName(title, limit, plans);
    if (!known) {
      const position = 1 + Math.max(...all.map((plan) => plan.position));
      const row = { name, title, description: "", credit_thousandths: 0, position };
      const contents = { features: "{}", limits: JSON.stringify(limits) };
      await transaction
        .insertInto("plans")
        .values({ ...row, ...contents })
        .execute();
    }
    const place = prices.filter(({ plan }) => plan.name === name).length;
    const row = { plan: name, place, withdrawn_at_ms: isSold ? null : nowMs };
    await transaction
      .insertInto("billing_licence_prices")
      .values({ id, ...row, assistant_limit: limit, sold_at_ms: nowMs })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
  });
}

/** A name for a plan by its title, with its limit of assistants or a number where the title's is taken: `office-25`. */
function unusedName(title: string, limit: number | null, plans: Plans): string {
  const words = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
  const base =
    words
      .replace(/^[^a-z]+/, "")
      .slice(0, 30)
      .replace(/-$/, "") || "plan";
  const numbered = Array.from({ length: maxPlans }, (_, at) => `${base}-${at + 2}`);
  const names = [base, ...(limit === null ? [] : [`${base}-${limit}`.slice(0, 40)]), ...numbered];
  return names.find((name) => !plans.has(name)) ?? base;
}

const tooMuch = (message: string) =>
  new ApiError("invalid_request", { message, hint: "See 'plan list' for what could go." });
