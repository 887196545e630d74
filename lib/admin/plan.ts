import { toCredits } from "@/lib/accounts/credits/ledger";
import {
  countOnPlans,
  type DescribedPlan,
  listPlans,
  maxCounted,
  type PlanChange,
  setPlan,
  showPlan,
} from "@/lib/accounts/terms/plan-changes";
import { act, changesBetween, type Fields, option, shellAct } from "@/lib/admin/act";
import {
  collectFeature,
  collectLimitOr,
  collectPrice,
  limitsInWords,
  parseBalance,
  parseSlug,
  parseWholeNumber,
  parseWords,
  toLines,
} from "@/lib/admin/arguments";
import { asLines, asTable, type Result } from "@/lib/admin/print";
import type { Db } from "@/lib/db/store";

type Given = { plan: string } & Omit<PlanChange, "credit_thousandths"> & { credits?: number };

const name = { plan: { parse: parseSlug } };

export const planActs = {
  list: shellAct({
    usage: "list",
    words: "list the plans, from the least to the most",
    async run({ db }) {
      const plans = await listPlans(db);
      return { json: plans, text: asTable(plans.map(inWords), "No plans found.") };
    },
  }),
  show: shellAct({
    usage: "show <plan>",
    words: "show a plan",
    run: async ({ db }, { plan }: { plan: string }) => toResult(await showPlan(db, plan)),
  }),
  set: act({
    usage: "set <plan>",
    words: "make a plan or change it, for everyone who has it: what you name is set, and the rest stays",
    effect: {
      does: "Everyone who has the plan has the change with their next request. A price that you take out is sold to no one new, and who pays it goes on as before.",
      undo: "Another change takes it back.",
    },
    examples: [
      "plan set studio --title Studio --feature voice --limit assistants=7 --limit projects=20 --credits 100",
      "plan set studio --price price_monthly --price price_yearly",
    ],
    fields: {
      title: {
        ...option("--title <words>", "how it is called", parseWords),
        read: parseWords,
        label: "Title",
        subject: "The title",
      },
      description: {
        ...option("--description <words>", "one line about it", parseWords),
        read: (typed) => typed && parseWords(typed),
        label: "One line about it",
        subject: "The line about it",
      },
      features: {
        option: "--feature <name=title>",
        parse: collectFeature,
        as: "lines",
        none: {},
        words: "all that it has, one each, with a title or without; or none",
        label: "Features, one a line, like voice = Talk to assistants",
      },
      limits: {
        option: "--limit <name=n>",
        parse: collectLimitOr("gone"),
        as: "lines",
        none: {},
        words: "a limit, one each: a whole number, none for no limit, or gone to say nothing of it",
        label: "Limits, one a line, like projects = 20 or projects = none",
      },
      credits: {
        ...option("--credits <n>", "the credits that it gives each month", parseBalance),
        read: parseBalance,
        label: "Credits a month",
        shown: "0",
        subject: "The credits",
        as: "number",
      },
      prices: {
        option: "--price <id>",
        parse: collectPrice,
        as: "lines",
        none: [],
        words: "all prices at Stripe that buy it, one each; or none",
        label: "Prices at Stripe that buy it, one id a line, the first one shown first",
      },
      position: {
        option: "--position <n>",
        parse: parseWholeNumber,
        as: "number",
        subject: "The place in the order",
        words: "its place in the order, which is from the least to the most",
        label: "Place in the order, from the least to the most; the last one if it is empty",
      },
      isOffered: { option: "--offer", words: "offer a retired plan again" },
    },
    isPartial: true,
    form: {
      path: "/plans/change",
      name: "change the plan",
      done: "Saved. Everyone who has the plan has it so from now on.",
      audited: "plan set",
    },
    async run({ db, by, nowMs, requireSeen }, { plan, credits, ...change }: Given) {
      const requireSame = (current: DescribedPlan | null) =>
        requireSeen(current ? planFields(current) : undefined, changedMeanwhile);
      const changed = { ...change, credit_thousandths: credits };
      return toResult(await setPlan(db, plan, changed, { by, requireSame }, nowMs));
    },
    async preview({ db }, { plan, ...change }) {
      const now = (await listPlans(db)).find(({ name }) => name === plan);
      const then = changed(now, change);
      const whom = now ? await holdersOf(db, now) : "No account yet";
      return { whom, changes: changesBetween(now ? formInWords(now) : {}, formInWords(then)) };
    },
  }),
  retire: act({
    usage: "retire <plan>",
    words: "offer a plan to no one new; who has it keeps it",
    effect: {
      does: "No one can buy it, or be given or invited to it, from now on. Who has it or an open invitation to it keeps it, pays as before and is told nothing.",
      undo: "It can be offered again at any time, with its prices.",
    },
    examples: ["plan retire studio"],
    fields: name,
    form: {
      path: "/plans/retire",
      name: "retire the plan",
      done: "It is retired: offered to no one new, and kept by who has it.",
    },
    async run({ db, by, nowMs }, { plan }: { plan: string }) {
      await showPlan(db, plan);
      return toResult(await setPlan(db, plan, { isOffered: false }, { by }, nowMs));
    },
    async preview({ db }, { plan }) {
      const change = {
        what: "Offered to",
        before: "anyone to whom it is sold or given",
        after: "no one new",
      };
      return { whom: await holdersOf(db, await showPlan(db, plan)), changes: [change] };
    },
  }),
};

const changedMeanwhile = "Someone changed this plan meanwhile: what you did not change shows what it is now.";

/** The accounts that have a plan, in words. */
export async function holdersOf(db: Db, { name, title }: Pick<DescribedPlan, "name" | "title">) {
  const count = (await countOnPlans(db, [name])).get(name) ?? 0;
  const some =
    count > maxCounted ? `more than ${maxCounted.toLocaleString("en")}` : count.toLocaleString("en");
  return `${title}: ${some} ${count === 1 ? "account has" : "accounts have"} it`;
}

type Contents = Omit<DescribedPlan, "name" | "retiredAt" | "position"> & { position?: number | undefined };

const nothing: Contents = {
  title: "",
  description: "",
  features: {},
  limits: {},
  creditsAMonth: 0,
  prices: [],
};

/** A plan after a change. */
function changed(now: Contents = nothing, { limits, credits, ...change }: Omit<Given, "plan">): Contents {
  const named = Object.entries({ ...now.limits, ...limits });
  const kept = named.filter((pair): pair is [string, number | null] => pair[1] !== "gone");
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return {
    ...now,
    ...Object.fromEntries(given),
    limits: Object.fromEntries(kept),
    creditsAMonth: credits === undefined ? now.creditsAMonth : toCredits(credits),
  };
}

const formInWords = (plan: Contents): Fields => ({
  Title: plan.title || "none",
  "Line about it": plan.description || "none",
  Features: Object.values(plan.features).join(", ") || "none",
  Limits: limitsInWords(plan.limits) || "none",
  "Credits a month": plan.creditsAMonth.toLocaleString("en"),
  "Prices at Stripe": plan.prices.join(", ") || "none",
  "Place in the order": String(plan.position ?? "last"),
});

/** A plan as the fields of its form show it. */
export const planFields = (plan: DescribedPlan): Fields => ({
  title: plan.title,
  description: plan.description,
  features: toLines(plan.features),
  limits: toLines(plan.limits),
  credits: String(plan.creditsAMonth),
  prices: plan.prices.join("\n"),
  position: String(plan.position),
});

type Shown = Awaited<ReturnType<typeof showPlan>>;

const toResult = (plan: Shown): Result<Shown> => ({ json: plan, text: asLines(inWords(plan)) });

const inWords = ({ features, limits, prices, ...plan }: Shown) => ({
  ...plan,
  features: Object.keys(features).join(),
  limits: limitsInWords(limits),
  prices: prices.join(),
});
