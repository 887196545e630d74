import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import type { LicenceState } from "@/lib/plans/entitlement-words";
import { endOf, licenceStateOf, liveOf } from "@/lib/plans/licence-state";
import { asksForLicenceMs, type Standing } from "@/lib/plans/standing";
import { ButtonLink } from "../button-link";
import { Clock } from "../clock";
import { Light } from "../status-light";
import type { Purchases } from "./billing/offers";
import { TrialLeft } from "./trial-left";

type CheckResultProps = {
  state: Standing;
  account: Account | undefined;
  /** Whether the account has an app, if that is known. */
  hasApp?: boolean | undefined;
  /** Whether it had one that has lost access. */
  hadApp?: boolean | undefined;
  bought?: Purchases | undefined;
  nowMs: number;
  /** Until when, by the licence, and what one costs. */
  children?: ReactNode;
  /** What follows the words. */
  then?: ReactNode;
};

/** One sentence with a status light. Changes while the page is open are announced to screen readers. */
export function CheckResult({
  state,
  account,
  hasApp,
  hadApp,
  bought,
  nowMs,
  children,
  then,
}: CheckResultProps) {
  const trial = account?.plan === "trial" && state.mayRun ? account : undefined;
  const isSettled = !bought?.licence || settled.has(licenceStateOf(bought.licence));
  const endsSoon = trial !== undefined && (trial.trial_ends_at_ms ?? 0) - nowMs <= asksForLicenceMs;
  const isCalm = state.mayRun && isSettled && !endsSoon;
  const end = state.status === "trial-ended" ? endOf(account, bought?.licence) : undefined;
  const isBeside = end?.what === "trial" && end.beside;
  const isCharged = settings().billing ? bought && liveOf(bought.subscriptions).length > 0 : false;
  const endedAtMs = (end?.what === "trial" && account?.trial_ends_at_ms) || null;
  const lacksApp = isCalm && hasApp === false && account?.deletes_at_ms === null;
  const shown: Standing =
    lacksApp && hadApp
      ? { ...state, light: ["soon", "Not connected"], heading: "No app is connected", next: "" }
      : state;
  return (
    <section className="card verdict" data-colour={shown.light[0]} aria-live="polite">
      <StatusLights state={shown} />
      <h1>{shown.heading}</h1>
      {trial && (
        <TrialLeft startedAtMs={trial.created_at_ms} endsAtMs={trial.trial_ends_at_ms} nowMs={nowMs} />
      )}
      {endedAtMs !== null && (
        <p>
          {isBeside ? "Your trial" : "It"} ended on <Clock atMs={endedAtMs} shows="date" />
          {isCharged === false && ", and nothing is charged"}.
        </p>
      )}
      <p>
        {lacksApp && trial && "Your trial is free: nothing is charged today, or when it ends. "}
        {lacksApp && hadApp && !trial && "Your plan is active. "}
        {lacksApp
          ? `Connect ${hadApp ? "an app again" : "your first app"}: your assistants work there.`
          : state.step || (state.mayRun && !state.isForUs)
            ? withMailLink(shown.next)
            : shown.next}
      </p>
      <div className="aside">{children}</div>
      {lacksApp ? (
        <ButtonLink to={`${pages.access.path}#connect-something`}>Connect an app</ButtonLink>
      ) : (
        !(isCalm && trial) && <NextStep state={state} account={account} />
      )}
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

/** Whether the company may run, and by which plan. */
export function StatusLights({ state: { light, tag } }: { state: Standing }) {
  return (
    <div className="lights">
      <Light colour={light[0]}>{light[1]}</Light>
      <span className="tag">{tag}</span>
    </div>
  );
}

/** A link to where the next step is done; where that is for us to do, a mail to support with what it needs. */
export function NextStep({ state, account }: Pick<CheckResultProps, "state" | "account">) {
  const { supportEmail } = settings();
  const { mayRun, status, heading, step, other, isForUs } = state;
  const subject = encodeURIComponent(`Corner Office: ${heading.toLowerCase()}`);
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
