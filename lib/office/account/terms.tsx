import { PostForm } from "@/app/(pages)/post-form";
import { type Account, trialEndOf } from "@/lib/accounts/account";
import { findAccount, setAccount } from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { describeLicence, type Facts } from "@/lib/accounts/explanation";
import { collectLimitOr, collectSlug, toLines } from "@/lib/admin/arguments";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { toMinute } from "@/lib/config/instants";
import {
  inForm,
  Lines,
  PlanFields,
  parseLines,
  parseTime,
  readSeen,
  readTerms,
  requireSeen,
  TimeField,
  toSeen,
} from "@/lib/office/forms";
import { formWithProof, type OfficeAct, type OfficeCall, requireEmail } from "@/lib/office/page";
import { Instant } from "@/lib/office/values";
import { contentsOf, ownFeaturesOf, ownLimitsOf, type Plans } from "@/lib/plans/plan";
import { describeAfter, type Gift } from "@/lib/plans/terms";

type TermsProps = {
  call: OfficeCall;
  plans: Plans;
  account: Account;
  given: Account;
  licensed: Facts["licensed"];
};

/** The form with what an operator gives: the plan, its trial's end and the limit; and what Stripe gives next to it. */
export function Terms({ call, plans, account, given, licensed }: TermsProps) {
  const { kept } = readSeen(call);
  const fields = fieldsOf(given.id, given, given.given_ends_at_ms);
  return (
    <>
      <h2>Plan</h2>
      <WhatItHas account={account} plans={plans} given={given} isPaid={licensed !== undefined} />
      {licensed && (
        <p>
          {describeLicence(licensed)}. To end it,{" "}
          <a href={dashboardUrl(licensed.customer_id)}>cancel it at Stripe</a>. The account has the better of
          that and of what you give:
        </p>
      )}
      <PostForm
        action={setTerms.path}
        hidden={{ email: given.email, seen: toSeen(fields) }}
        className="fields"
      >
        <PlanFields
          call={kept}
          plans={plans}
          plan={given.given_plan ?? given.plan}
          assistantLimit={given.assistant_limit}
        >
          <TimeField call={kept} name="trialEnds" label="Trial ends (UTC)" atMs={trialEndOf(given)} />
        </PlanFields>
        <Lines call={kept} name="ownFeatures" label="Features beyond the plan" current={fields.ownFeatures} />
        <Lines call={kept} name="ownLimits" label="Limits, like projects = 20" current={fields.ownLimits} />
        <TimeField
          call={kept}
          name="until"
          label="What you change here ends (UTC), if it does"
          atMs={given.given_ends_at_ms}
        />
        <button type="submit">Save</button>
      </PostForm>
    </>
  );
}

type HasProps = Pick<TermsProps, "account" | "plans" | "given"> & { isPaid: boolean };

/** What an account has now: its plan, who gives it, and apart from that what an operator gives beyond it. */
function WhatItHas({ account, plans, given, isPaid }: HasProps) {
  const has = contentsOf(account, plans);
  const without = { own_features: null, own_limits: null, assistant_limit: null };
  const byPlan = contentsOf({ ...account, ...without }, plans);
  if (!has || !byPlan) return <p>Its plan cannot be read. Give it another one.</p>;
  const features = has.features.map((name) =>
    byPlan.features.includes(name) ? name : `${name} (beyond the plan)`,
  );
  const limits = Object.entries(has.limits).map(([name, limit]) => {
    const planned = Object.hasOwn(byPlan.limits, name) ? byPlan.limits[name] : undefined;
    const beyond = planned === undefined ? "beyond the plan" : `in place of the plan’s ${planned ?? "none"}`;
    return `${name} ${limit ?? "none"}${limit === planned ? "" : ` (${beyond})`}`;
  });
  const title = (name: string) => `${plans.get(name)?.title ?? name} (${name})`;
  return (
    <dl>
      <dt>It has</dt>
      <dd>{title(has.plan)}</dd>
      {isPaid && (
        <>
          <dt>You give</dt>
          <dd>{title(given.given_plan ?? given.plan)}</dd>
          <dt>Stripe gives</dt>
          <dd>{title(account.paid_plan ?? "licensed")}</dd>
        </>
      )}
      <dt>Features</dt>
      <dd>{features.join(", ") || "none"}</dd>
      <dt>Limits</dt>
      <dd>{limits.join(", ") || "none"}</dd>
      {account.given_ends_at_ms !== null && (
        <>
          <dt>What you give ends</dt>
          <dd>
            <Instant atMs={account.given_ends_at_ms} />, and then it has {describeAfter(account)}
          </dd>
        </>
      )}
    </dl>
  );
}

/** The fields of the form, and the account that it was made for. */
function fieldsOf(
  id: string,
  { plan, given_plan, trial_ends_at_ms, assistant_limit, ...own }: Gift["given"],
  endsAtMs: number | null | undefined,
) {
  return {
    id,
    until: toMinute(endsAtMs),
    plan: given_plan ?? plan,
    trialEnds: toMinute(trial_ends_at_ms),
    assistantLimit: String(assistant_limit ?? ""),
    ownFeatures: ownFeaturesOf(own).join("\n"),
    ownLimits: toLines(ownLimitsOf(own)),
  };
}

/** Sets only what the sender changed: a plan merely sent along undoes no one's, and a trial's end keeps its seconds. */
export const setTerms: OfficeAct = {
  ...formWithProof("/account/terms"),
  name: "change the plan",
  done: "Saved. The API answers by it from now on.",
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { plan, given_plan, trial_ends_at_ms, assistant_limit = null } = readTerms(call);
    const account = await findAccount(db, email);
    const { isChanged } = readSeen(call);
    const lines = (name: string) => (isChanged(name) ? input(name) : undefined);
    const [features, limits] = [lines("ownFeatures"), lines("ownLimits")];
    // The form shows one end for all of it, so what is changed below it ends then too; a trial ends by itself.
    const standing =
      isChanged("plan") && plan === "trial" ? undefined : (account.given_ends_at_ms ?? undefined);
    const before = Object.keys(ownLimitsOf(account)).map((name) => [name, "plan"] as const);
    const terms = {
      ...(isChanged("plan") && { plan, given_plan }),
      trial_ends_at_ms: isChanged("trialEnds") ? trial_ends_at_ms : undefined,
      assistant_limit: isChanged("assistantLimit") ? assistant_limit : undefined,
      ...(features !== undefined && {
        own_features: inForm("It", () => parseLines(collectSlug, features, [])),
      }),
      ...(limits !== undefined && {
        own_limits: {
          ...Object.fromEntries(before),
          ...inForm("It", () => parseLines(collectLimitOr("plan"), limits, {})),
        },
      }),
      given_ends_at_ms: isChanged("until") ? parseTime(input("until")) : standing,
    };
    const requireSame = ({ given, end }: Gift) => {
      const now = describeChanges(null, { ...given, given_ends_at_ms: end?.atMs ?? null });
      const seen = toSeen(fieldsOf(account.id, given, end?.atMs));
      requireSeen(call, seen, `Someone changed this account meanwhile. It is now: ${now}.`);
    };
    await setAccount(db, email, { ...terms, by, requireSame }, nowMs);
  },
};
