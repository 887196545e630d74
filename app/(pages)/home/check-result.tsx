import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { settings } from "@/lib/config/settings";
import type { Standing } from "@/lib/plans/standing";
import { ButtonLink } from "../button-link";
import { Light } from "../status-light";
import { TrialLeft } from "./trial-left";

type CheckResultProps = {
  state: Standing;
  account: Account | undefined;
  nowMs: number;
  /** Until when, by the licence. */
  children?: ReactNode;
};

/** One sentence with a status light. Changes while the page is open are announced to screen readers. */
export function CheckResult({ state, account, nowMs, children }: CheckResultProps) {
  const trial = account?.plan === "trial" && state.mayRun ? account : undefined;
  return (
    <section className="card verdict" data-colour={state.light[0]} aria-live="polite">
      <StatusLights state={state} />
      <h1>{state.heading}</h1>
      {trial && (
        <TrialLeft startedAtMs={trial.created_at_ms} endsAtMs={trial.trial_ends_at_ms} nowMs={nowMs} />
      )}
      {children}
      <p>{state.next}</p>
      <NextStep state={state} account={account} />
    </section>
  );
}

/** Whether the company may run, and by which plan. */
export function StatusLights({ state: { light, tag } }: { state: Standing }) {
  return (
    <div className="lights">
      <Light colour={light[0]}>{light[1]}</Light>
      <span className="tag">{tag}</span>
    </div>
  );
}

/** A link to where the next step is done; of a stopped company without one, a mail to support with what it needs. */
function NextStep({ state, account }: Omit<CheckResultProps, "nowMs">) {
  const { supportEmail } = settings();
  const { mayRun, status, heading, step } = state;
  const subject = encodeURIComponent(`Corner Office: ${heading.toLowerCase()}`);
  const body = account ? `&body=${encodeURIComponent(`My account is ${account.email}.\n\n`)}` : "";
  const help = !mayRun && supportEmail && status !== "unavailable";
  const to =
    step ?? (help && { words: "Email support", path: `mailto:${supportEmail}?subject=${subject}${body}` });
  return to ? <ButtonLink to={to.path}>{to.words}</ButtonLink> : null;
}
