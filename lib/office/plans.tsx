import { limitInWords } from "@/app/(pages)/plan-cards";
import { PostButton } from "@/app/(pages)/post-form";
import {
  countOnPlans,
  type DescribedPlan,
  listPlans,
  maxCounted,
  showPlan,
} from "@/lib/accounts/terms/plan-changes";
import { act } from "@/lib/admin/act";
import { parseSlug } from "@/lib/admin/arguments";
import { planActs, planFields } from "@/lib/admin/plan";
import { readAmount } from "@/lib/billing/prices/prices";
import { settings } from "@/lib/config/settings";
import { ActForm, formOf } from "@/lib/office/act-form";
import { addressOf, invalid, type OfficeCall, type OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Day, None, UntrustedText } from "@/lib/office/values";
import { basePlans } from "@/lib/plans/plan";

async function show(call: OfficeCall) {
  const listed = await listPlans(call.db);
  const counts = await countOnPlans(
    call.db,
    listed.map(({ name }) => name),
  );
  const chosen = listed.find(({ name }) => name === call.input("plan"));
  const amounts = await readAmounts(chosen ? [chosen] : listed, call.nowMs);
  if (chosen)
    return (
      <>
        <p>
          <a href={plans.path}>All plans</a>
        </p>
        <dl>
          <dt>Accounts that have it</dt>
          <dd>
            <Accounts name={chosen.name} count={counts.get(chosen.name) ?? 0} />
          </dd>
          <dt>Price</dt>
          <dd>
            <Prices prices={chosen.prices} amounts={amounts} />
          </dd>
        </dl>
        <ActForm act={change} call={call} hidden={{ plan: chosen.name }} current={planFields(chosen)}>
          <button type="submit">Save the plan</button>
        </ActForm>
      </>
    );
  return (
    <>
      <p className="quiet">
        From the least to the most. A change is there for everyone who has the plan with the next request.
      </p>
      <Table
        rows={listed}
        columns={{
          Plan,
          "What is in it": Contents,
          Prices: ({ prices }) => <Prices prices={prices} amounts={amounts} />,
          Accounts: ({ name }) => <Accounts name={name} count={counts.get(name) ?? 0} />,
          Edit: Changes,
        }}
      />
      <details className="fold" open={call.typed("name") !== undefined}>
        <summary>Make a plan</summary>
        <ActForm act={add} call={call}>
          <button type="submit">Make the plan</button>
        </ActForm>
      </details>
    </>
  );
}

function Plan({ name, title, description, retiredAt }: DescribedPlan) {
  return (
    <>
      <b>
        <UntrustedText>{title}</UntrustedText>
      </b>{" "}
      <code>{name}</code>
      {description !== "" && (
        <small>
          <UntrustedText>{description}</UntrustedText>
        </small>
      )}
      {retiredAt !== null && (
        <small>
          Retired <Day atMs={Date.parse(retiredAt)} />
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
  if (titles === "") return counted.join(" · ") || <None />;
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

function Changes(plan: DescribedPlan) {
  const { name, retiredAt } = plan;
  const isOffered = retiredAt === null;
  const canRetire = !basePlans.some((base) => base === name);
  return (
    <div className="actions">
      <a href={addressOf(plans.path, { plan: name })} aria-label={`Change the plan ${name}`}>
        Change
      </a>
      {canRetire && (
        <PostButton
          action={(isOffered ? retire : offer).form.path}
          hidden={{ plan: name }}
          label={`${isOffered ? "Retire" : "Offer again"} the plan ${name}`}
        >
          {isOffered ? "Retire" : "Offer again"}
        </PostButton>
      )}
    </div>
  );
}

const { set, retire } = planActs;

/** The limits that are not in the form any more go. */
const change: typeof set = {
  ...set,
  async run(call, { limits, ...given }) {
    const before = Object.keys((await showPlan(call.db, given.plan)).limits).map((name) => [name, "gone"]);
    return set.run(call, {
      ...given,
      ...(limits && { limits: { ...Object.fromEntries(before), ...limits } }),
    });
  },
};

const add = act({
  ...set,
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
  run(call, { name, ...given }: { name: string } & Parameters<typeof set.run>[1]) {
    const requireSeen = (current: object | undefined) => {
      if (current) throw invalid(`There is already a plan ${name}.`);
    };
    return set.run({ ...call, requireSeen }, { ...given, plan: name });
  },
});

const offer = act({
  ...retire,
  form: { path: "/plans/offer", name: "offer the plan again", done: "It is offered again." },
  async run(call, { plan }) {
    await showPlan(call.db, plan);
    return set.run({ ...call, requireSeen() {} }, { plan, isOffered: true });
  },
});

export const plans: OfficePage = {
  path: "/plans",
  name: "Plans",
  title: ({ input }) => (input("plan") ? `The plan ${input("plan")}` : "Plans"),
  show,
  acts: [formOf(add), formOf(change), formOf(retire), formOf(offer)],
};
