import type { Account } from "@/lib/accounts/account";
import { findAccount } from "@/lib/accounts/accounts";
import { describeLicence, type Facts } from "@/lib/accounts/explanation";
import { setAccountAct } from "@/lib/admin/account";
import { accountFormFields } from "@/lib/admin/terms";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { ActForm, formOf } from "@/lib/office/act-form";
import { planOptions } from "@/lib/office/forms";
import type { OfficeCall } from "@/lib/office/page";
import { Instant, toTheMinute } from "@/lib/office/values";
import { contentsOf, ownLimitsOf, type Plans } from "@/lib/plans/plan";
import { describeAfter } from "@/lib/plans/terms";

type TermsProps = {
  call: OfficeCall;
  plans: Plans;
  account: Account;
  given: Account;
  licensed: Facts["licensed"];
};

/** The form with what an operator gives: the plan, its trial's end and the limit; and what Stripe gives next to it. */
export function Terms({ call, plans, account, given, licensed }: TermsProps) {
  const fields = accountFormFields(given);
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
      <ActForm
        act={setAccountAct}
        call={call}
        hidden={{ email: given.email }}
        className="fields"
        current={fields}
        options={{ plan: planOptions(plans, fields.plan) }}
      >
        <button type="submit">Save the plan</button>
      </ActForm>
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
            <Instant atMs={account.given_ends_at_ms} />, and then it has{" "}
            {toTheMinute(describeAfter(account) ?? "")}
          </dd>
        </>
      )}
    </dl>
  );
}

/**
 * What the form does, which shows all limits and one end for all: limits that are not in it any more go, and what is changed
 * ends then too, except a trial, which ends by itself.
 */
const changeTerms: typeof setAccountAct = {
  ...setAccountAct,
  async run(call, { own_limits, given_ends_at_ms, ...given }) {
    const account = await findAccount(call.db, given.email);
    const before = Object.keys(ownLimitsOf(account)).map((name) => [name, "plan"] as const);
    const standing = given.plan === "trial" ? undefined : (account.given_ends_at_ms ?? undefined);
    return setAccountAct.run(call, {
      ...given,
      own_limits: own_limits && { ...Object.fromEntries(before), ...own_limits },
      given_ends_at_ms: given_ends_at_ms === undefined ? standing : given_ends_at_ms,
    });
  },
};

export const setTerms = formOf(changeTerms);
