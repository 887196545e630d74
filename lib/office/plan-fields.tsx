import { type Plan, plans } from "@/lib/accounts/account";
import type { AccountTerms } from "@/lib/accounts/accounts";
import { fieldValue, invalid, type OfficeCall } from "@/lib/office/page";
import { parseTime, TimeField } from "@/lib/office/time-field";

/** The fields of a plan: the plan itself, when its trial ends (by a time or by days), and the limit of assistants. */
export function PlanFields({
  call,
  plan,
  trial,
  assistantLimit,
}: {
  call: OfficeCall;
  plan: Plan;
  trial: { endsAtMs: number | undefined } | { days: number };
  assistantLimit: number | null;
}) {
  return (
    <>
      <label>
        Plan
        <select name="plan" defaultValue={fieldValue(call, "plan", plan)}>
          {plans.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {"days" in trial ? (
        <label>
          Days of a trial
          <input
            name="trialDays"
            inputMode="numeric"
            autoComplete="off"
            defaultValue={fieldValue(call, "trialDays", String(trial.days))}
          />
        </label>
      ) : (
        <TimeField call={call} name="trialEnds" label="Trial ends (UTC)" atMs={trial.endsAtMs} />
      )}
      <label>
        Assistants at most
        <input
          name="assistantLimit"
          inputMode="numeric"
          autoComplete="off"
          defaultValue={fieldValue(call, "assistantLimit", String(assistantLimit ?? ""))}
        />
      </label>
    </>
  );
}

/** Reads the terms of a form. Throws an {@link ApiError} for what no account can have. */
export function readTerms({ input }: Pick<OfficeCall, "input">): AccountTerms {
  const plan = plans.find((name) => name === input("plan"));
  if (!plan) throw invalid("Choose a plan.");
  const terms: AccountTerms = { plan };
  const [ends, days, limit] = [input("trialEnds"), input("trialDays"), input("assistantLimit")];
  if (ends && plan === "trial") {
    terms.trialEndsAtMs = parseTime(ends) ?? undefined;
  }
  if (days && plan === "trial") terms.trialDays = parseWhole(days, "The days of the trial");
  if (limit) terms.assistantLimit = parseWhole(limit, "The limit of assistants");
  return terms;
}

function parseWhole(text: string, what: string): number {
  if (!/^\d{1,6}$/.test(text)) throw invalid(`${what} must be a whole number from 0 to 999999.`);
  return Number(text);
}
