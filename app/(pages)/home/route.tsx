import { spendable } from "@/lib/accounts/credits/ledger";
import type { Session } from "@/lib/auth/sessions/session";
import { pages } from "@/lib/http/register/pages";
import { listUnsent } from "@/lib/oauth/browser-requests";
import { choosePlan, isDue, payAgain } from "@/lib/plans/entitlement-words";
import { licenceStateOf } from "@/lib/plans/licence-state";
import { asksForLicenceMs } from "@/lib/plans/standing";
import { contentsInWords, Lines } from "../plan-cards";
import { type Access, readAccess } from "./access/read-access";
import { usedInWords } from "./access/sessions";
import { Charges } from "./billing/charges";
import { Balance } from "./billing/credits";
import { findAgain, payingAgain, readOffersTo, readTerms, sellsCreditsTo } from "./billing/offers";
import { CheckResult } from "./check-result";
import { FirstDays, firstSteps } from "./first-days";
import { GivenUntil } from "./given-until";
import { AppRow, isNew, LatestApp } from "./latest-app";
import { type OwnVisit, ownerPage } from "./owner-page";
import { PasskeyOffer } from "./passkey-offer";

/** The CEO's page: may the company run, until when, and what to do next. */
export const { GET } = ownerPage(pages.home, {}, async (visit) => {
  const { account, plans, sessionId, state, bought, nowMs } = visit;
  const read = await readAccess(account, nowMs);
  const { sessions, ways } = read ?? {};
  const latest = sessions?.find((session) => session.kind === "app" && isNew(session, nowMs));
  const own = sessions?.find(({ id }) => id === sessionId);
  const hasApp = sessions?.some(({ kind }) => kind === "app");
  const isWell =
    state.mayRun &&
    account.deletes_at_ms === null &&
    !(bought?.licence && isDue(licenceStateOf(bought.licence)));
  const steps = read && isWell && !read.endedApps[0] ? firstSteps(account, read, state) : [];
  const isBegun = steps.every(({ isDone }) => isDone);
  const isToChoose =
    state.step?.words === choosePlan &&
    (!state.mayRun || (account.trial_ends_at_ms ?? 0) - nowMs <= asksForLicenceMs);
  const isToPayAgain = state.step?.words === payAgain;
  const offers =
    bought && (isToChoose || isToPayAgain) ? await readOffersTo(account, bought, plans, nowMs) : undefined;
  const again = findAgain(bought, offers);
  const terms = bought && (await readTerms(bought, plans, nowMs));
  return (
    <>
      <div className="start">
        <CheckResult
          {...visit}
          state={again ? payingAgain(state, again) : state}
          hasApp={hasApp}
          ended={read?.endedApps[0]}
        >
          <Charges
            {...visit}
            standing={state}
            terms={terms}
            again={again}
            choice={isToChoose ? offers?.licences : undefined}
          />
        </CheckResult>
        {listUnsent(visit.headers).length > 0 && (
          <p className="notice">
            An app is waiting for your approval. <a href={pages.connect.path}>See the request</a>
          </p>
        )}
        {!isBegun && (
          <FirstDays steps={steps}>{latest && <LatestApp app={latest} nowMs={nowMs} />}</FirstDays>
        )}
        {hasApp !== false && (isBegun || !latest) && <Apps read={read} latest={latest} nowMs={nowMs} />}
        {(state.mayRun || spendable(account) > 0) && (
          <div className="card facts">
            {state.mayRun && <OwnPlan {...visit} />}
            <OwnCredits {...visit} />
          </div>
        )}
      </div>
      {ways && own && <PasskeyOffer accountId={account.id} ways={ways} session={own} />}
    </>
  );
});

function OwnPlan({ account, contents, plans }: OwnVisit) {
  const plan = plans.get(contents.plan);
  const lines = contentsInWords(contents, plans);
  return (
    <section aria-labelledby="plan">
      <h2 id="plan">In your plan</h2>
      {lines.length > 0 ? <Lines lines={lines} /> : <p className="quiet">{plan?.description}</p>}
      <GivenUntil account={account} />
      <p>
        <a href={`${pages.billing.path}#plans`}>See the plans</a>
      </p>
    </section>
  );
}

function OwnCredits({ account, contents, plans, state, isUnsold }: OwnVisit) {
  return (
    <section aria-labelledby="credits">
      <Balance {...{ account, isUnsold }} mayRun={state.mayRun} plan={plans.get(contents.plan)} />
      <p>
        {spendable(account) === 0 && sellsCreditsTo(account) && state.light[0] === "good" ? (
          <a href={`${pages.billing.path}#packs`}>Buy credits</a>
        ) : (
          <a href={`${pages.billing.path}#credits`}>See history</a>
        )}
      </p>
    </section>
  );
}

const maxApps = 4;

const lastUse = ({ checked_at_ms, last_seen_at_ms }: Session) =>
  Math.max(checked_at_ms ?? 0, last_seen_at_ms ?? 0);

type AppsProps = {
  read: Access | undefined;
  /** The one of which more is said than its last check. */
  latest?: Session | undefined;
  nowMs: number;
};

/** The apps that were used last, with their last check. */
function Apps({ read, latest, nowMs }: AppsProps) {
  const apps = read?.sessions.filter(({ kind }) => kind === "app");
  const others = apps?.filter(({ id }) => id !== latest?.id);
  const shown = others?.toSorted((one, other) => lastUse(other) - lastUse(one)).slice(0, maxApps);
  return (
    <section className="card" aria-labelledby="apps">
      <h2 id="apps">Apps and agents</h2>
      {latest && <LatestApp app={latest} nowMs={nowMs} />}
      {!apps && <p className="quiet">We cannot show your apps at the moment. Nothing is lost.</p>}
      {shown && shown.length > 0 && (
        <ul className="entries named">
          {shown.map((app) => (
            <AppRow key={app.id} app={app}>
              {usedInWords(app, nowMs)}
            </AppRow>
          ))}
        </ul>
      )}
      <p>
        <a className="button plain small" href={pages.access.path}>
          {apps && apps.length > maxApps ? `Manage all ${apps.length} apps` : "Manage apps"}
        </a>
      </p>
    </section>
  );
}
