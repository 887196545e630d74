import type { Account } from "@/lib/accounts/account";
import { settings } from "@/lib/config/settings";
import type { LightColour } from "@/lib/status/parts";
import { Light } from "../light";
import type { HomeState } from "./state";
import { endsSoon, TrialLeft } from "./trial-left";

type VerdictProps = { state: HomeState; account: Account | undefined; nowMs: number };

/** One sentence with a status light. Changes while the page is open are announced to screen readers. */
export function CheckResult({ state, account, nowMs }: VerdictProps) {
  const trial = runningTrial(state, account);
  const [colour] = lightOf(state, account, nowMs);
  return (
    <section className="verdict" data-colour={colour} data-may-run={state.mayRun} aria-live="polite">
      <StatusLights state={state} account={account} nowMs={nowMs} />
      <h1>{state.heading}</h1>
      {trial && <TrialLeft startedAtMs={trial.createdAtMs} endsAtMs={trial.trialEndsAtMs} nowMs={nowMs} />}
      <p>{state.next}</p>
      {!state.mayRun && <WriteForHelp state={state} account={account} />}
    </section>
  );
}

/** Whether the company may run, and by which plan. */
export function StatusLights({ state, account, nowMs }: VerdictProps) {
  const [colour, word] = lightOf(state, account, nowMs);
  return (
    <div className="lights">
      <Light colour={colour}>{word}</Light>
      <span className="tag">{statusNames[state.status]}</span>
    </div>
  );
}

const runningTrial = ({ mayRun }: HomeState, account: Account | undefined) =>
  account?.plan === "trial" && mayRun ? account : undefined;

function lightOf(state: HomeState, account: Account | undefined, nowMs: number): [LightColour, string] {
  if (state.status === "unavailable") return ["unknown", "Unknown"];
  if (!state.mayRun) return ["stopped", "Stopped"];
  const trial = runningTrial(state, account);
  return trial && endsSoon(trial.trialEndsAtMs - nowMs) ? ["soon", "Ends soon"] : ["good", "Runs"];
}

/** A link that emails support, with the details that support needs. */
function WriteForHelp({ state, account }: Omit<VerdictProps, "nowMs">) {
  const { supportEmail, billing } = settings();
  if (!supportEmail || state.status === "unavailable") return null;
  // There are buttons that buy a licence.
  if (billing && state.status === "trial-ended") return null;
  const subject = encodeURIComponent(`Corner Office: ${state.heading.toLowerCase()}`);
  const body = account ? `&body=${encodeURIComponent(`My account is ${account.email}.\n\n`)}` : "";
  return (
    <p className="actions">
      <a className="button" href={`mailto:${supportEmail}?subject=${subject}${body}`}>
        Email support
      </a>
    </p>
  );
}

export const statusNames: Record<HomeState["status"], string> = {
  licensed: "Licensed",
  trial: "Trial",
  hobby: "Hobby",
  "trial-ended": "Trial ended",
  invalid: "Account not readable",
  unavailable: "Not checked",
  unconfigured: "Not set up",
};
