import { limitInWords } from "@/app/(pages)/plan-cards";
import type { Account } from "@/lib/accounts/account";
import { findAccount } from "@/lib/accounts/accounts";
import type { Facts } from "@/lib/accounts/explanation";
import { setAccountAct } from "@/lib/admin/account";
import { accountFormFields, planAndEnd } from "@/lib/admin/terms";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { ActFold, formOf } from "@/lib/office/act-form";
import { planOptions } from "@/lib/office/forms";
import type { OfficeCall } from "@/lib/office/page";
import { Instant, toTheMinute } from "@/lib/office/values";
import { contentsOf, ownLimitsOf, type Plans, titleOf } from "@/lib/plans/plan";
import { describeAfter, giftOf } from "@/lib/plans/terms";

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
      <WhatItHas {...{ account, plans, given }} isPaid={licensed !== undefined} nowMs={call.nowMs} />
      {licensed && (
        <p className="quiet">
          It has the better of what Stripe gives while the subscription is paid and of what you give. To end
          what is paid, <a href={dashboardUrl(licensed.customer_id)}>cancel it at Stripe</a>.
        </p>
      )}
      <ActFold
        title="Change what you give"
        act={setAccountAct}
        call={call}
        hidden={{ email: given.email }}
        className="fields"
        current={fields}
        options={{ plan: planOptions(plans, fields.plan) }}
      >
        <button type="submit">Save for this account</button>
      </ActFold>
    </>
  );
}

type HasProps = Pick<TermsProps, "account" | "plans" | "given"> & { isPaid: boolean; nowMs: number };

/** What an account has now: its plan, who gives it, and apart from that what an operator gives beyond it. */
function WhatItHas({ account, plans, given, isPaid, nowMs }: HasProps) {
  const has = contentsOf(account, plans);
  const without = { own_features: null, own_limits: null, assistant_limit: null };
  const byPlan = contentsOf({ ...account, ...without }, plans);
  if (!has || !byPlan) return <p>Its plan cannot be read. Give it another one.</p>;
  const titles = plans.get(has.plan)?.features ?? {};
  const features = has.features.map(
    (name) => `${titles[name] ?? titleOf(name)}${byPlan.features.includes(name) ? "" : " (beyond the plan)"}`,
  );
  const limits = Object.entries(has.limits).map(([name, limit]) => {
    const planned = Object.hasOwn(byPlan.limits, name) ? byPlan.limits[name] : undefined;
    const beyond =
      planned === undefined ? "beyond the plan" : `in place of the plan’s ${planned ?? "unlimited ones"}`;
    return `${limitInWords(name, limit)}${limit === planned ? "" : ` (${beyond})`}`;
  });
  const title = (name: string) => plans.get(name)?.title ?? name;
  const gift = { given, end: giftOf(account, undefined).end };
  return (
    <dl>
      <dt>You give</dt>
      <dd>{planAndEnd(gift, plans, nowMs)}</dd>
      {isPaid && (
        <>
          <dt>Stripe gives</dt>
          <dd>{title(account.paid_plan ?? "licensed")}, while it is paid</dd>
        </>
      )}
      <dt>Features</dt>
      <dd>{features.join(", ") || "None"}</dd>
      <dt>Limits</dt>
      <dd>{limits.join(" · ") || "None"}</dd>
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
  preview: async (call, given) => setAccountAct.preview?.(call, await completeTerms(call, given)),
  run: async (call, given) => setAccountAct.run(call, await completeTerms(call, given)),
};

type SetGiven = Parameters<typeof setAccountAct.run>[1];

async function completeTerms(
  { db }: Pick<OfficeCall, "db">,
  { own_limits, given_ends_at_ms, ...given }: SetGiven,
): Promise<SetGiven> {
  const account = await findAccount(db, given.email);
  const before = Object.keys(ownLimitsOf(account)).map((name) => [name, "plan"] as const);
  const standing = given.plan === "trial" ? undefined : (account.given_ends_at_ms ?? undefined);
  return {
    ...given,
    own_limits: own_limits && { ...Object.fromEntries(before), ...own_limits },
    given_ends_at_ms: given_ends_at_ms === undefined ? standing : given_ends_at_ms,
  };
}

export const setTerms = formOf(changeTerms);
