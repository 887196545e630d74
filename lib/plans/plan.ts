import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { perProcess } from "@/lib/per-process";
import { log } from "@/lib/runtime/log";

/** What an account may do: names of features and limits, the limits as whole numbers, or null for none. */
export type Contents = {
  readonly plan: string;
  readonly features: string[];
  readonly limits: Record<string, number | null>;
};

/** A plan. `position` is its place in the order, which is from the least to the most. */
export type Plan = ReturnType<typeof parsePlan>;

/** All plans by their names, in their order. */
export type Plans = ReadonlyMap<string, Plan>;

/** The plans that always are: an account that is on a trial or the hobby plan, and a licence of which no more is known. */
export const basePlans = ["trial", "hobby", "licensed"] as const;

/** A name of a plan, a feature or a limit. */
export const slug = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/);

/** The title of what has a name alone: `Voice notes` for `voice-notes`. */
export const titleOf = (name: string) =>
  `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("-", " ")}`;

/** So many plans, and so many features and limits of one, so that an answer stays small. */
export const maxPlans = 50;
export const maxContents = 50;

/** A column with JSON. SQLite checks no types. */
const json = <Value extends z.ZodType>(value: Value) =>
  z
    .string()
    .transform((text) => JSON.parse(text) as unknown)
    .pipe(value);

const limits = json(z.record(slug, z.int().min(0).nullable()));
const contents = z.object({ features: json(z.record(slug, z.string())), limits });
const own = z.object({ own_features: json(z.array(slug)).nullable(), own_limits: limits.nullable() });

/** Whether the columns of what an operator gives beyond a plan can be read. */
export function hasValidGrants(row: { own_features?: unknown; own_limits?: unknown }): boolean {
  return (row.own_features === null && row.own_limits === null) || own.safeParse(row).success;
}

function parsePlan(row: Tables["plans"]) {
  const { features, limits } = contents.parse(row);
  return {
    ...row,
    /** Titles by the features' names. */
    features,
    limits,
    contents: { plan: row.name, features: Object.keys(features), limits } as Contents,
  };
}

/** Reads all plans. One that does not parse is left out and logged: its accounts cannot be read. */
export async function readPlans(db: Db): Promise<Plans> {
  const rows = await db.selectFrom("plans").selectAll().orderBy("position").orderBy("name").execute();
  const plans = new Map<string, Plan>();
  for (const row of rows) {
    try {
      plans.set(row.name, parsePlan(row));
    } catch (failure) {
      log().error({ err: failure, plan: row.name }, "a plan could not be read");
    }
  }
  return plans;
}

const kept = perProcess("plans", () => ({ version: "", plans: new Map() as Plans }));

/**
 * The plans at the version that the caller has just read: kept by this process, so that only a change makes one read more.
 */
export function plansAt(db: Db, version: string): Plans | Promise<Plans> {
  const { version: keptVersion, plans } = kept();
  if (keptVersion === version) return plans;
  return readPlans(db).then((plans) => Object.assign(kept(), { version, plans }).plans);
}

/** Says to all that keep the plans that they are others now, in the transaction that changes them. */
export async function renewVersion(transaction: Db): Promise<void> {
  await transaction.updateTable("plan_versions").set({ version: randomUUID() }).execute();
}

type Own = Pick<Tables["accounts"], "own_features" | "own_limits">;

/** The features that an operator gives an account beyond its plan. */
export const ownFeaturesOf = ({ own_features }: Own) => JSON.parse(own_features ?? "[]") as string[];

/** The limits that an operator gives an account in place of its plan's. */
export const ownLimitsOf = ({ own_limits }: Own) => JSON.parse(own_limits ?? "{}") as Contents["limits"];

type Grants = Pick<
  Tables["accounts"],
  "plan" | "given_plan" | "paid_plan" | "assistant_limit" | "own_features" | "own_limits"
>;

/**
 * What an account has: what its plans contain, and what an operator gives it beyond. Of two licences, one given and one
 * paid, each feature and the higher limits. `undefined` if a plan of it cannot be read.
 */
export function contentsOf(account: Grants, plans: Plans): Contents | undefined {
  const { own_features, own_limits, assistant_limit } = account;
  const found = licencesOf(account).map((name) => plans.get(name));
  if (!found.every((plan) => plan !== undefined)) return undefined;
  const [first, second] = found.toSorted((one, other) => other.position - one.position);
  if (!first) return undefined;
  const byPlan = second ? bothOf(first.contents, second.contents) : first.contents;
  if (own_features === null && own_limits === null && assistant_limit === null) return byPlan;
  return {
    plan: byPlan.plan,
    features: [...new Set([...byPlan.features, ...ownFeaturesOf(account)])],
    limits: {
      ...byPlan.limits,
      ...(assistant_limit !== null && { assistants: assistant_limit }),
      ...ownLimitsOf(account),
    },
  };
}

/** What an account has, in the fields of its entitlement. `assistantLimit` is a limit that was there before the others. */
export function describeContents({ plan, features, limits }: Contents) {
  const { assistants } = limits;
  return { plan, ...(assistants != null && { assistantLimit: assistants }), features, limits };
}

function licencesOf({ plan, given_plan, paid_plan }: Grants): string[] {
  if (plan !== "licensed") return [plan];
  const names = [given_plan, paid_plan].filter((name) => name !== null);
  return names.length > 0 ? [...new Set(names)] : [plan];
}

function bothOf(first: Contents, second: Contents): Contents {
  const names = new Set([...Object.keys(first.limits), ...Object.keys(second.limits)]);
  const limits = [...names].map((name): [string, number | null] => {
    const limit = Math.max(limitIn(first, name), limitIn(second, name));
    return [name, limit === Number.POSITIVE_INFINITY ? null : limit];
  });
  return {
    plan: first.plan,
    features: [...new Set([...first.features, ...second.features])],
    limits: Object.fromEntries(limits),
  };
}

/** A limit; infinity for none. */
export const limitIn = ({ limits }: Pick<Contents, "limits">, name: string): number =>
  (Object.hasOwn(limits, name) ? limits[name] : null) ?? Number.POSITIVE_INFINITY;
