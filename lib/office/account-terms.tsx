import type { Account } from "@/lib/accounts/account";
import { findAccount, setAccount } from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { describeLicence } from "@/lib/accounts/explanation";
import { Form, PlanFields, readTerms, TimeField, toMinute } from "@/lib/office/forms";
import { accountAddress, conflict, type OfficeAct, type OfficeCall, requireEmail } from "@/lib/office/page";

type TermsProps = { call: OfficeCall; account: Account; licence: string | null };

/** The form with an account's plan, its trial's end and its limit. */
export function Terms({ call, account, licence }: TermsProps) {
  const { email, plan, assistantLimit } = account;
  return (
    <>
      <h2>Plan</h2>
      {licence && <p>{describeLicence(licence)}.</p>}
      <Form act={setTerms} hidden={{ email, seen: describeTerms(account) }} className="filter">
        <PlanFields call={call} plan={plan} assistantLimit={assistantLimit}>
          <TimeField call={call} name="trialEnds" label="Trial ends (UTC)" atMs={trialEndOf(account)} />
        </PlanFields>
        <button type="submit">Save</button>
      </Form>
    </>
  );
}

/** When an account's trial ends, in Unix milliseconds; `undefined` if it is on no trial. */
export const trialEndOf = (account: Account) =>
  "trialEndsAtMs" in account ? account.trialEndsAtMs : undefined;

/** The state that a form was made from. */
function describeTerms(account: Account): string {
  const { id, plan, assistantLimit } = account;
  return [id, plan, trialEndOf(account) ?? "", assistantLimit ?? "none"].join(" ");
}

/**
 * Sets what differs from the account: a plan that is only sent along does not become one that was given by hand, and a
 * trial's end keeps its seconds. An empty limit stays as it is.
 */
export const setTerms: OfficeAct = {
  path: "/account/terms",
  name: "change the plan",
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { plan, trialEndsAtMs, assistantLimit } = readTerms(call);
    const shown = await findAccount(db, email);
    const isSameEnd = input("trialEnds") === toMinute(trialEndOf(shown));
    const terms = {
      plan: plan === shown.plan ? undefined : plan,
      trialEndsAtMs: isSameEnd ? undefined : trialEndsAtMs,
      assistantLimit,
    };
    await setAccount(db, email, terms, nowMs, by, (current) => {
      if (input("seen") === describeTerms(current)) return;
      const { plan, assistantLimit: assistant_limit } = current;
      const now = describeChanges(null, {
        plan,
        trial_ends_at_ms: trialEndOf(current) ?? null,
        assistant_limit,
      });
      throw conflict(`Someone changed this account meanwhile. It is now: ${now}.`);
    });
    return accountAddress(email, "terms");
  },
};
