import { limitInWords } from "@/app/(pages)/plan-cards";
import {
  countOnPlans,
  type DescribedPlan,
  listPlans,
  maxCounted,
  showPlan,
} from "@/lib/accounts/terms/plan-changes";
import { act } from "@/lib/admin/act";
import { parseSlug } from "@/lib/admin/arguments";
import { holdersOf, planActs, planFields } from "@/lib/admin/plan";
import { readAmount } from "@/lib/billing/prices/prices";
import { settings } from "@/lib/config/settings";
import { ActFold, formOf } from "@/lib/office/act-form";
import { Facts } from "@/lib/office/facts";
import { addressOf, invalid, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Day, None, UntrustedText } from "@/lib/office/values";
import { basePlans, readPlans } from "@/lib/plans/plan";

async function show(call: OfficeCall) {
  const listed = await listPlans(call.db);
  const counts = await countOnPlans(
    call.db,
    listed.map(({ name }) => name),
  );
  const chosen = listed.find(({ name }) => name === call.input("plan"));
  const amounts = await readAmounts(chosen ? [chosen] : listed, call.nowMs);
  if (chosen) return <One {...chosen} call={call} count={counts.get(chosen.name) ?? 0} amounts={amounts} />;
  return (
    <>
      <p className="lead">
        What an account may do and what that costs, in the order that you gave them. Open one to change or
        retire it.
      </p>
      <ActFold title="Make a plan" act={add} call={call} isFirst>
        <button type="submit">Make the plan</button>
      </ActFold>
      <Table
        rows={listed}
        columns={{
          Plan,
          "What is in it": Contents,
          Prices: ({ prices }) => <Prices prices={prices} amounts={amounts} />,
          Accounts: ({ name }) => <Accounts name={name} count={counts.get(name) ?? 0} />,
        }}
      />
    </>
  );
}

type OneProps = DescribedPlan & { call: OfficeCall; count: number; amounts: Map<string, string> };

/** A plan: what is in it and who has it, and what can be done with it. */
function One({ call, count, amounts, ...plan }: OneProps) {
  const { name, retiredAt, prices } = plan;
  return (
    <>
      <p>
        <a href={plans.path}>All plans</a>
      </p>
      <section className="card">
        <Facts
          facts={{
            "What is in it": <Contents {...plan} />,
            "Accounts that have it": <Accounts name={name} count={count} />,
            Price: <Prices prices={prices} amounts={amounts} />,
            "Who can get it":
              retiredAt === null ? (
                "Anyone to whom it is sold or given"
              ) : (
                <>
                  No one new: retired <Day atMs={Date.parse(retiredAt)} />
                </>
              ),
            "Its name for apps": <code>{name}</code>,
          }}
        />
      </section>
      <div className="actions">
        <ActFold
          title="Change the plan"
          act={change}
          call={call}
          hidden={{ plan: name }}
          current={planFields(plan)}
          isFirst
        >
          <button type="submit">{saveFor(count)}</button>
        </ActFold>
        <Offering call={call} {...plan} />
      </div>
    </>
  );
}

/** The button that saves a plan, by whom that reaches. */
function saveFor(count: number): string {
  if (count === 0) return "Save the plan";
  if (count === 1) return "Save for the one account that has it";
  return count > maxCounted
    ? `Save for more than ${maxCounted.toLocaleString("en")} accounts`
    : `Save for all ${count.toLocaleString("en")} accounts`;
}

function Plan({ name, title, description, retiredAt }: DescribedPlan) {
  return (
    <>
      <b>
        <a href={addressOf(plans.path, { plan: name })}>
          <UntrustedText>{title}</UntrustedText>
        </a>
      </b>{" "}
      <code>{name}</code> {retiredAt !== null && <span className="tag">Retired</span>}
      {description !== "" && (
        <small>
          <UntrustedText>{description}</UntrustedText>
        </small>
      )}
    </>
  );
}

/** Its features, and below them its limits and credits, as their owners read them. */
function Contents({ features, limits, creditsAMonth }: DescribedPlan) {
  const titles = Object.values(features).join(", ");
  const counted = Object.entries(limits).map(([name, limit]) => limitInWords(name, limit));
  if (creditsAMonth > 0) counted.push(`${creditsAMonth.toLocaleString("en")} credits a month`);
  if (titles === "") return counted.join(" · ") || "No features, and no limits";
  return (
    <>
      <UntrustedText>{titles}</UntrustedText>
      {counted.length > 0 && <small>{counted.join(" · ")}</small>}
    </>
  );
}

/** What prices come to, by their ids at Stripe: those that it names in time. */
async function readAmounts(of: DescribedPlan[], nowMs: number): Promise<Map<string, string>> {
  if (!settings().billing) return new Map();
  const ids = of.flatMap(({ prices }) => prices);
  const amounts = await Promise.all(ids.map((id) => readAmount(id, undefined, nowMs)));
  return new Map(ids.flatMap((id, at) => (amounts[at] ? [[id, amounts[at]] as const] : [])));
}

/** What it costs, and below that the ids at Stripe. */
function Prices({ prices, amounts }: { prices: string[]; amounts: Map<string, string> }) {
  if (prices.length === 0) return <None />;
  const known = prices.flatMap((id) => amounts.get(id) ?? []);
  if (known.length === 0) return prices.join(", ");
  return (
    <>
      {known.join(" or ")} <small>{prices.join(", ")}</small>
    </>
  );
}

function Accounts({ name, count }: { name: string; count: number }) {
  const words =
    count > maxCounted ? `more than ${maxCounted.toLocaleString("en")}` : count.toLocaleString("en");
  return (
    <>
      <a
        href={addressOf("/accounts", { plan: name })}
        aria-label={`Accounts with the plan ${name}: ${words}`}
      >
        {words}
      </a>
      {name === "licensed" && " with any licence"}
    </>
  );
}

/** The act that retires a plan, or offers it again. */
function Offering({ call, name, title, retiredAt }: DescribedPlan & { call: OfficeCall }) {
  if (basePlans.some((base) => base === name))
    return <p className="quiet">This plan is always there, so it cannot be retired.</p>;
  const [offered, button] = retiredAt === null ? [retire, "Retire"] : [offer, "Offer again:"];
  return (
    <ActFold
      title={retiredAt === null ? "Retire this plan" : "Offer this plan again"}
      act={offered}
      call={call}
      hidden={{ plan: name }}
    >
      <button type="submit" className="plain">
        <span>
          {button} <UntrustedText>{title}</UntrustedText>
        </span>
      </button>
    </ActFold>
  );
}

const { set, retire } = planActs;

type SetGiven = Parameters<typeof set.run>[1];

/** The limits that are not in the form any more go. */
const change: typeof set = {
  ...set,
  preview: async (call, given) => set.preview?.(call, await completeLimits(call, given)),
  run: async (call, given) => set.run(call, await completeLimits(call, given)),
};

async function completeLimits(
  { db }: Pick<OfficeCall, "db">,
  { limits, ...given }: SetGiven,
): Promise<SetGiven> {
  const before = Object.keys((await showPlan(db, given.plan)).limits).map((name) => [name, "gone"]);
  return { ...given, ...(limits && { limits: { ...Object.fromEntries(before), ...limits } }) };
}

const add = act({
  ...set,
  effect: {
    does: "No account has it until you give it or someone buys it at one of its prices.",
    undo: "You can change all but its name, and retire it.",
  },
  usage: "set <name>",
  fields: {
    name: { parse: parseSlug, label: "Name, which apps read and which stays" },
    ...set.fields,
  },
  form: {
    path: "/plans/add",
    name: "make the plan",
    done: "Made. It can be given, and is sold at its prices.",
  },
  preview: async (call, { name, ...given }) => set.preview?.(call, { ...given, plan: name }),
  run(call, { name, ...given }: { name: string } & SetGiven) {
    const requireSeen = (current: object | undefined) => {
      if (current) throw invalid(`There is already a plan ${name}.`);
    };
    return set.run({ ...call, requireSeen }, { ...given, plan: name });
  },
});

const offer = act({
  ...retire,
  effect: {
    does: "It is sold at its prices, and can be given and invited to again.",
    undo: "You can retire it at any time.",
  },
  form: { path: "/plans/offer", name: "offer the plan again", done: "It is offered again." },
  preview: async ({ db }, { plan }) => ({
    whom: await holdersOf(db, await showPlan(db, plan)),
    changes: [{ what: "Offered to", before: "no one new", after: "anyone to whom it is sold or given" }],
  }),
  async run(call, { plan }) {
    await showPlan(call.db, plan);
    return set.run({ ...call, requireSeen() {} }, { plan, isOffered: true });
  },
});

export const plans: OfficePage = {
  path: "/plans",
  name: "Plans",
  title: async ({ db, input }) => {
    const plan = input("plan");
    return plan ? ((await readPlans(db)).get(plan)?.title ?? plan) : "Plans";
  },
  show,
  acts: [formOf(add), formOf(change), formOf(retire), formOf(offer)],
};
