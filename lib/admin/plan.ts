import { listPlans, type PlanChange, setPlan, showPlan } from "@/lib/accounts/plan-changes";
import {
  collectFeature,
  collectLimitOr,
  collectPrice,
  limitsInWords,
  parseBalance,
  parseCount,
  parseWords,
} from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines, asTable, type Result } from "@/lib/admin/print";

type Options = {
  title?: string;
  description?: string;
  feature?: Record<string, string>;
  limit?: Record<string, number | null | "gone">;
  credits?: number;
  price?: string[];
  position?: number;
  offer?: true;
};

/** `plan list|show|set|retire`. */
export function addPlanCommands(program: AdminCommand): void {
  const plan = program.command("plan").description("what an account may do, and what that costs");

  plan.add("list", "list the plans, from the least to the most").does(async ({ db }) => {
    const plans = await listPlans(db);
    return { json: plans, text: asTable(plans.map(inWords), "No plans found.") };
  });

  plan
    .add("show <plan>", "show a plan", "plan show hobby")
    .does(async ({ db }, name: string) => toResult(await showPlan(db, name)));

  plan
    .add(
      "set <plan>",
      "make a plan or change it, for everyone who has it: what you name is set, and the rest stays",
      "plan set studio --title Studio --feature voice --limit assistants=7 --limit projects=20 --credits 100",
      "plan set studio --price price_monthly --price price_yearly",
    )
    .option("--title <words>", "how it is called", parseWords)
    .option("--description <words>", "one line about it", parseWords)
    .option(
      "--feature <name=title>",
      "all that it has, one each, with a title or without; or none",
      collectFeature,
    )
    .option(
      "--limit <name=n>",
      "a limit, one each: a whole number, none for no limit, or gone to say nothing of it",
      collectLimitOr("gone"),
    )
    .option("--credits <n>", "the credits that it gives each month", parseBalance)
    .option("--price <id>", "all prices at Stripe that buy it, one each; or none", collectPrice)
    .option("--position <n>", "its place in the order, which is from the least to the most", parseCount)
    .option("--offer", "offer a retired plan again")
    .does(async ({ db }, name: string, { feature, limit, credits, price, offer, ...options }: Options) => {
      const change: PlanChange = {
        ...options,
        ...{ features: feature, limits: limit, credit_thousandths: credits, prices: price, isOffered: offer },
      };
      return toResult(await setPlan(db, name, change, {}, Date.now()));
    });

  plan
    .add("retire <plan>", "offer a plan to no one new; who has it keeps it", "plan retire studio")
    .does(async ({ db }, name: string) => {
      await showPlan(db, name);
      return toResult(await setPlan(db, name, { isOffered: false }, {}, Date.now()));
    });
}

type Shown = Awaited<ReturnType<typeof showPlan>>;

const toResult = (plan: Shown): Result => ({ json: plan, text: asLines(inWords(plan)) });

const inWords = ({ features, limits, prices, ...plan }: Shown) => ({
  ...plan,
  features: Object.keys(features).join(),
  limits: limitsInWords(limits),
  prices: prices.join(),
});
