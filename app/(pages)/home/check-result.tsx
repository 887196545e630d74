import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { EndedApp } from "@/lib/auth/sessions/ended-app";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import type { LicenceState } from "@/lib/plans/entitlement-words";
import { licenceStateOf } from "@/lib/plans/licence-state";
import { asksForLicenceMs, type Standing } from "@/lib/plans/standing";
import { ButtonLink } from "../button-link";
import { Clock } from "../clock";
import { Shape } from "../status-light";
import type { Purchases } from "./billing/offers";
import { TrialLeft } from "./trial-left";

type CheckResultProps = {
  state: Standing;
  account: Account | undefined;
  /** Whether the account has an app, if that is known. */
  hasApp?: boolean | undefined;
  /** The app that lost access last. */
  ended?: Pick<EndedApp, "name" | "expires_at_ms"> | undefined;
  bought?: Purchases | undefined;
  nowMs: number;
  /** What it costs. */
  children?: ReactNode;
  /** What follows the words. */
  then?: ReactNode;
};

/** Whether the company may run, what it costs, and what to do. Changes while the page is open are announced to screen readers. */
export function CheckResult({
  state,
  account,
  hasApp,
  ended,
  bought,
  nowMs,
  children,
  then,
}: CheckResultProps) {
  const trial = account?.plan === "trial" && state.mayRun ? account : undefined;
  const isSettled = !bought?.licence || settled.has(licenceStateOf(bought.licence));
  const endsSoon = trial !== undefined && (trial.trial_ends_at_ms ?? 0) - nowMs <= asksForLicenceMs;
  const isCalm = state.mayRun && isSettled && !endsSoon;
  const lacksApp = isCalm && hasApp === false && account?.deletes_at_ms === null;
  const isMissed = lacksApp && ended !== undefined;
  const colour = isMissed ? "soon" : state.light[0];
  return (
    <section className="card verdict" data-colour={colour} aria-live="polite">
      <div className="state">
        <Shape colour={colour} />
        <h1>{isMissed ? "No app is connected" : state.heading}</h1>
      </div>
      {trial && <TrialLeft account={trial} nowMs={nowMs} />}
      <p>
        {isMissed ? (
          <>
            {trial ? "Your trial is active, but “" : "Your plan is active, but “"}
            {ended.name}” lost access on <Clock atMs={ended.expires_at_ms} shows="date" />:{" "}
            <a href={`${pages.access.path}#sessions`}>see why</a>. Connect an app again: your assistants work
            there.
          </>
        ) : lacksApp ? (
          "Connect your first app: your assistants work there."
        ) : state.step || (state.mayRun && !state.isForUs) ? (
          withMailLink(state.next)
        ) : (
          state.next
        )}
      </p>
      {lacksApp ? (
        <ButtonLink to={`${pages.access.path}#connect-something`}>Connect an app</ButtonLink>
      ) : (
        !(isCalm && trial) && <NextStep state={state} account={account} />
      )}
      {children}
      {then}
    </section>
  );
}

/** The states of a licence that ask for nothing while the company may run. */
const settled: ReadonlySet<LicenceState> = new Set([
  "renews",
  "free",
  "not collected",
  "ended",
  "trial over",
]);

/** A link to where the next step is done; where that is for us to do, a mail to support with what it needs. */
export function NextStep({ state, account }: Pick<CheckResultProps, "state" | "account">) {
  const { supportEmail } = settings();
  const { mayRun, status, heading, step, other, isForUs } = state;
  const subject = encodeURIComponent(`Corner Office: ${heading}`);
  const body = account ? `&body=${encodeURIComponent(`My account is ${account.email}.\n\n`)}` : "";
  const help = (!mayRun || isForUs) && supportEmail && status !== "unavailable";
  const to =
    step ?? (help && { words: "Email support", path: `mailto:${supportEmail}?subject=${subject}${body}` });
  if (!to) return null;
  if (!other) return <ButtonLink to={to.path}>{to.words}</ButtonLink>;
  return (
    <p className="actions">
      <a className="button" href={to.path}>
        {to.words}
      </a>
      <a className="button plain" href={other.path}>
        {other.words}
      </a>
    </p>
  );
}

/** A text in which the address of support is a link. */
export function withMailLink(text: string): ReactNode {
  const { supportEmail } = settings();
  const [before, after] = supportEmail ? text.split(supportEmail) : [];
  if (after === undefined) return text;
  return (
    <>
      {before}
      <a href={`mailto:${supportEmail}`}>{supportEmail}</a>
      {after}
    </>
  );
}
