import { PostButton, PostForm } from "@/app/(pages)/post-form";
import { parseThousandths } from "@/lib/accounts/ledger";
import {
  countOnPlans,
  type DescribedPlan,
  listPlans,
  maxCounted,
  type PlanChange,
  setPlan,
  showPlan,
} from "@/lib/accounts/plan-changes";
import {
  Field,
  Lines,
  parseWhole,
  readFeature,
  readLimit,
  readLines,
  readSeen,
  requireSeen,
  requireSlug,
  toLines,
  toSeen,
} from "@/lib/office/forms";
import {
  addressOf,
  formWithProof,
  invalid,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
  requireLine,
} from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant, UntrustedText } from "@/lib/office/values";
import { basePlans } from "@/lib/plans/plan";

async function show(call: OfficeCall) {
  const listed = await listPlans(call.db);
  const counts = await countOnPlans(
    call.db,
    listed.map(({ name }) => name),
  );
  const chosen = listed.find(({ name }) => name === call.input("plan"));
  return (
    <>
      <p>
        What accounts may do, from the least to the most. A change is there for everyone who has the plan with
        the next request, and in apps when they ask again.
      </p>
      <Table
        rows={listed}
        columns={{
          Plan: ({ name, title, description }) => (
            <>
              <b>
                <UntrustedText>{title}</UntrustedText>
              </b>{" "}
              <code>{name}</code>
              {description !== "" && <br />}
              <UntrustedText>{description}</UntrustedText>
            </>
          ),
          Features: ({ features }) => (
            <UntrustedText>{Object.values(features).join(", ") || "–"}</UntrustedText>
          ),
          Limits: ({ limits }) =>
            Object.entries(limits)
              .map(([name, limit]) => `${name} ${limit ?? "none"}`)
              .join(", ") || "–",
          "Credits a month": ({ creditsAMonth }) => creditsAMonth.toLocaleString("en"),
          Prices: ({ prices }) => prices.join(", ") || "–",
          Accounts: ({ name }) => <Accounts name={name} count={counts.get(name) ?? 0} />,
          State: ({ retiredAt }) =>
            retiredAt === null ? (
              "offered"
            ) : (
              <>
                retired <Instant atMs={Date.parse(retiredAt)} />
              </>
            ),
          Edit: Changes,
        }}
      />
      {chosen ? <ChangeForm call={call} plan={chosen} /> : <AddForm call={call} />}
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
          action={(isOffered ? retire : offer).path}
          hidden={{ plan: name }}
          label={`${isOffered ? "Retire" : "Offer again"} the plan ${name}`}
        >
          {isOffered ? "Retire" : "Offer again"}
        </PostButton>
      )}
    </div>
  );
}

function AddForm({ call }: { call: OfficeCall }) {
  return (
    <>
      <h2>Make a plan</h2>
      <PostForm action={add.path} className="stack">
        <Field
          call={call}
          name="name"
          label="Name, which apps read and which stays"
          maxLength={40}
          spellCheck={false}
        />
        <PlanFields call={call} />
        <button type="submit">Make the plan</button>
      </PostForm>
    </>
  );
}

function ChangeForm({ call, plan }: { call: OfficeCall; plan: DescribedPlan }) {
  const fields = fieldsOf(plan);
  return (
    <>
      <h2>
        Change the plan <code>{plan.name}</code>
      </h2>
      <PostForm action={change.path} hidden={{ plan: plan.name, seen: toSeen(fields) }} className="stack">
        <PlanFields call={readSeen(call).kept} fields={fields} />
        <button type="submit">Save the plan</button>
      </PostForm>
      <p>
        <a href={plans.path}>Make another plan</a>
      </p>
    </>
  );
}

/** The fields of a plan, as the form shows them. */
const fieldsOf = ({
  title,
  description,
  features,
  limits,
  creditsAMonth,
  prices,
  position,
}: DescribedPlan) => ({
  title,
  description,
  features: toLines(features),
  limits: toLines(limits),
  credits: String(creditsAMonth),
  prices: prices.join("\n"),
  position: String(position),
});

type Fields = ReturnType<typeof fieldsOf>;

function PlanFields({ call, fields }: { call: OfficeCall; fields?: Fields }) {
  return (
    <>
      <Field call={call} name="title" label="Title" maxLength={500} current={fields?.title} />
      <Field
        call={call}
        name="description"
        label="One line about it"
        maxLength={500}
        current={fields?.description}
      />
      <Lines
        call={call}
        name="features"
        label="Features, one a line, like voice = Talk to assistants"
        current={fields?.features}
      />
      <Lines
        call={call}
        name="limits"
        label="Limits, one a line, like projects = 20 or projects = none"
        current={fields?.limits}
      />
      <Field
        call={call}
        name="credits"
        label="Credits a month"
        inputMode="decimal"
        current={fields?.credits ?? 0}
      />
      <Lines
        call={call}
        name="prices"
        label="Prices at Stripe that buy it, one id a line, the first one shown first"
        current={fields?.prices}
      />
      <Field
        call={call}
        name="position"
        label="Place in the order, from the least to the most; the last one if it is empty"
        inputMode="numeric"
        current={fields?.position}
      />
    </>
  );
}

const nameIn = ({ input }: OfficeCall) => input("plan") ?? "";

/** What the sender of a form changed; of the limits, those that are not there any more go. */
function readChange(call: OfficeCall, before: Pick<DescribedPlan, "limits">): PlanChange {
  const { isChanged } = readSeen(call);
  const typed = (name: string) => (isChanged(name) ? call.input(name) : undefined);
  const [title, description, position] = [typed("title"), typed("description"), typed("position")];
  const [features, limits, prices] = [typed("features"), typed("limits"), typed("prices")];
  const credits = typed("credits");
  const gone = Object.keys(before.limits).map((name) => [name, "gone"] as const);
  return {
    ...(title !== undefined && { title: requireLine("The title", title) }),
    ...(description !== undefined && {
      description: description === "" ? "" : requireLine("The line about it", description),
    }),
    ...(features !== undefined && { features: readLines(features, readFeature) }),
    ...(limits !== undefined && { limits: { ...Object.fromEntries(gone), ...readLines(limits, readLimit) } }),
    ...(credits !== undefined && { credit_thousandths: parseCredits(credits) }),
    ...(prices !== undefined && { prices: Object.keys(readLines(prices, readPrice)) }),
    ...(position && { position: parseWhole(position, "The place in the order") }),
  };
}

function parseCredits(text: string): number {
  const thousandths = parseThousandths(text) ?? -1;
  if (thousandths >= 0) return thousandths;
  throw invalid("The credits must be a number from 0, with at most three decimals.");
}

function readPrice(line: string): [id: string, isListed: true] {
  const id = line.trim();
  if (/^price_\w{1,100}$/.test(id)) return [id, true];
  throw invalid(`“${id}” is no id of a price at Stripe, like price_1Abc.`);
}

const add: OfficeAct = {
  ...formWithProof("/plans/add"),
  name: "make the plan",
  done: "Made. It can be given, and is sold at its prices.",
  async run(call) {
    const name = requireSlug(call.input("name") ?? "");
    const requireSame = (current: DescribedPlan | null) => {
      if (current) throw invalid(`There is already a plan ${name}.`);
    };
    await setPlan(call.db, name, readChange(call, { limits: {} }), { by: call.by, requireSame }, call.nowMs);
  },
};

const change: OfficeAct = {
  ...formWithProof("/plans/change"),
  name: "change the plan",
  done: "Saved. Everyone who has the plan has it so from now on.",
  async run(call) {
    const name = nameIn(call);
    const words = "Someone changed this plan meanwhile: what you did not change shows what it is now.";
    const requireSame = (current: DescribedPlan | null) =>
      requireSeen(call, current ? toSeen(fieldsOf(current)) : "", words);
    const change = readChange(call, await showPlan(call.db, name));
    await setPlan(call.db, name, change, { by: call.by, requireSame }, call.nowMs);
  },
};

const retire: OfficeAct = {
  ...formWithProof("/plans/retire"),
  name: "retire the plan",
  done: "It is offered to no one new. Who has it keeps it.",
  run: (call) => setOffered(call, false),
};

const offer: OfficeAct = {
  ...formWithProof("/plans/offer"),
  name: "offer the plan again",
  done: "It is offered again.",
  run: (call) => setOffered(call, true),
};

async function setOffered(call: OfficeCall, isOffered: boolean): Promise<void> {
  await showPlan(call.db, nameIn(call));
  await setPlan(call.db, nameIn(call), { isOffered }, { by: call.by }, call.nowMs);
}

export const plans: OfficePage = {
  path: "/plans",
  name: "Plans",
  show,
  acts: [add, change, retire, offer],
};
