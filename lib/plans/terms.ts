import * as z from "zod";
import { asIso } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import type { Tables } from "@/lib/db/tables";
import { parseJson } from "@/lib/http/json";
import { limitIn, type Plans } from "@/lib/plans/plan";

/** What an operator gives until an end, if it has one, and what they give after it. */
export type Gift = { given: Given; end?: { atMs: number; given: Given } | undefined };

type Ending = Pick<Tables["accounts"], "given_ends_at_ms" | "given_after">;

/** What an operator gives an account. Of a licence, they give the plan `given_plan`, and Stripe gives `paid_plan`. */
export type Given = z.infer<typeof givenColumns>;

const givenColumns = z.object({
  plan: z.string(),
  given_plan: z.string().nullable(),
  paid_plan: z.string().nullable(),
  trial_ends_at_ms: z.int().nullable(),
  assistant_limit: z.int().nullable(),
  own_features: z.string().nullable(),
  own_limits: z.string().nullable(),
});

/** What an operator gives after an end, and what the account has then next to what Stripe gives. */
const afterEnd = z.object({ given: givenColumns, has: givenColumns });

/** What a row says of what comes after an end; `undefined` if it cannot be read. */
export function readAfter({ given_after }: { given_after?: unknown }) {
  return afterEnd.safeParse(parseJson(Buffer.from(String(given_after)))).data;
}

/** The columns of an end, after which the account `has` what Stripe gives next to what is given then. */
export function endColumns(end: Gift["end"], has: Given | undefined): Ending {
  if (!end) return { given_ends_at_ms: null, given_after: null };
  return { given_ends_at_ms: end.atMs, given_after: JSON.stringify({ given: end.given, has }) };
}

/** A row as it is at `nowMs`: once an end has come, what is after it, also before that is stored. */
export function rowAt<Row extends { given_ends_at_ms?: unknown; given_after?: unknown }>(
  row: Row,
  nowMs: number,
): Row {
  if (row.given_ends_at_ms === null || Number(row.given_ends_at_ms) > nowMs) return row;
  return { ...row, ...readAfter(row)?.has, given_ends_at_ms: null };
}

/** The terms that an operator gives an account, by its {@link rowAt}: next to a licence from Stripe, its customer has them. */
export function givenTerms(
  { plan, trial_ends_at_ms, assistant_limit, given_plan, ...row }: Given & Ending,
  customer:
    | Pick<Tables["billing_customers"], "licence" | "plan_before" | "trial_ends_before_ms" | "limit_before">
    | undefined,
): Given {
  const after = row.given_ends_at_ms === null && row.given_after !== null && readAfter(row);
  if (after) return after.given;
  const given = (plan: string) => ({
    plan,
    given_plan: plan === "licensed" ? (given_plan ?? plan) : null,
    paid_plan: null,
    own_features: row.own_features,
    own_limits: row.own_limits,
  });
  if (customer?.licence !== "given" || customer.plan_before === null)
    return { ...given(plan), trial_ends_at_ms, assistant_limit };
  return {
    ...given(customer.plan_before),
    trial_ends_at_ms: customer.trial_ends_before_ms,
    assistant_limit: customer.limit_before,
  };
}

/** What an operator gives an account, by its {@link rowAt}, with what they give after an end that is to come. */
export function giftOf(row: Given & Ending, customer: Parameters<typeof givenTerms>[1]): Gift {
  const given = givenTerms(row, customer);
  const after = readAfter(row);
  if (row.given_ends_at_ms === null || !after) return { given };
  return { given, end: { atMs: row.given_ends_at_ms, given: after.given } };
}

/**
 * What an account has: the better of what an operator gives and of what Stripe gives. A licence without a limit has none; a
 * limit of the operator's counts next to a licence where it is higher, and no limit at all only with the plan `licensed`.
 */
export function betterOf(given: Given, paid: Paid | undefined, plans: Plans): Given {
  if (!paid) return given;
  const ofGiven = given.given_plan === null ? 0 : limitOfPlan(given.given_plan, plans);
  const own = given.assistant_limit ?? (given.plan === "licensed" ? ofGiven : 0);
  const limit = Math.max(own, paid.limit);
  const byPlans = Math.max(ofGiven, limitOfPlan(paid.plan, plans));
  return {
    ...given,
    plan: "licensed",
    paid_plan: paid.plan,
    trial_ends_at_ms: null,
    assistant_limit: limit === byPlans || limit === Number.POSITIVE_INFINITY ? null : limit,
  };
}

/** What Stripe gives: the plan of the licence, and its limit of assistants, which is infinite without one. */
export type Paid = { plan: string; limit: number };

/** A plan's limit of assistants; infinity for none. */
export function limitOfPlan(name: string, plans: Plans): number {
  const plan = plans.get(name);
  return plan ? limitIn(plan, "assistants") : Number.POSITIVE_INFINITY;
}

/** Whether a row has another value in one of these columns. */
export function differs<Row extends object>(row: Row, values: Partial<Row>): boolean {
  return Object.entries(values).some(([name, value]) => row[name as keyof Row] !== value);
}

/** The operator's terms after a licence: a trial has its rest, unless LAPSED_PLAN is hobby, which has a limit. */
export function lapsedTerms(given: Given): Given {
  const { lapsedPlan, lapsedLimit } = settings().billing ?? {};
  if (given.plan !== "trial" || lapsedPlan !== "hobby") return given;
  const assistant_limit = given.assistant_limit ?? lapsedLimit ?? null;
  return { ...given, plan: "hobby", trial_ends_at_ms: null, assistant_limit };
}

/** What is left when all that an operator gives ends: a trial that has ended then, or as {@link lapsedTerms} says. */
export function endedTerms(given: Given, atMs: number): Given {
  const left = { ...given, assistant_limit: null, own_features: null, own_limits: null };
  if (given.plan !== "licensed") return left;
  return lapsedTerms({ ...left, plan: "trial", given_plan: null, trial_ends_at_ms: atMs });
}

/** What an account has after the end of what an operator gives it; `undefined` without an end. */
export function describeAfter(account: Ending): string | undefined {
  const has = account.given_ends_at_ms === null ? undefined : readAfter(account)?.has;
  if (!has) return undefined;
  const isOver = has.plan === "trial" && (has.trial_ends_at_ms ?? 0) <= (account.given_ends_at_ms ?? 0);
  return isOver
    ? "a trial that has ended"
    : describeTerms({ ...has, given_plan: has.paid_plan ?? has.given_plan });
}

/** For example `studio, at most 25 assistants`. */
export function describeTerms(terms: Partial<Given>): string {
  const { given_plan, plan, trial_ends_at_ms, assistant_limit } = terms;
  const end = trial_ends_at_ms == null ? "" : ` until ${asIso(trial_ends_at_ms)}`;
  return `${given_plan ?? plan}${end}${assistant_limit == null ? "" : `, at most ${assistant_limit} assistants`}`;
}
