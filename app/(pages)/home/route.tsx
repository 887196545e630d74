import type { ReactNode } from "react";
import { spendable } from "@/lib/accounts/credits/ledger";
import type { Session } from "@/lib/auth/sessions/session";
import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { listUnsent } from "@/lib/oauth/browser-requests";
import { isDue } from "@/lib/plans/entitlement-words";
import { licenceStateOf } from "@/lib/plans/licence-state";
import { Monogram } from "../icons";
import { contentsInWords, Lines } from "../plan-cards";
import { type Access, readAccess } from "./access/read-access";
import { usedInWords } from "./access/sessions";
import { Balance } from "./billing/credits";
import { readTerms, sellsCreditsTo } from "./billing/offers";
import { LicenceFacts, licenceThatCounts, PlanFacts } from "./billing/what-runs";
import { CheckResult } from "./check-result";
import { FirstDays, firstSteps } from "./first-days";
import { GivenUntil } from "./given-until";
import { isNew, LatestApp } from "./latest-app";
import { type OwnVisit, ownerPage } from "./owner-page";
import { PasskeyOffer } from "./passkey-offer";

/** The CEO's page: may the company run, until when, and what to do next. */
export const { GET } = toPlatform(
  ownerPage(pages.home, {}, async (visit) => {
    const { account, plans, sessionId, state, bought, nowMs } = visit;
    const read = await readAccess(account, nowMs);
    const { sessions, ways } = read ?? {};
    const latest = sessions?.find((session) => session.kind === "app" && isNew(session, nowMs));
    const own = sessions?.find(({ id }) => id === sessionId);
    const licence = licenceThatCounts(account, bought, state);
    const hasApp = sessions?.some(({ kind }) => kind === "app");
    const isWell =
      state.mayRun && account.deletes_at_ms === null && !(licence && isDue(licenceStateOf(licence)));
    const steps = read && isWell ? firstSteps(account, read) : [];
    const isBegun = steps.every(({ isDone }) => isDone);
    const news = latest && <LatestApp app={latest} nowMs={nowMs} />;
    const terms = bought && licence ? await readTerms(bought, plans, nowMs) : undefined;
    const cards = [
      !isBegun ? (
        <FirstDays key="steps" steps={steps}>
          {news}
        </FirstDays>
      ) : (
        hasApp !== false && (
          <Apps key="apps" read={read} nowMs={nowMs}>
            {news}
          </Apps>
        )
      ),
      state.mayRun && <OwnPlan key="plan" {...visit} />,
      <OwnCredits key="credits" {...visit} />,
      !isBegun && hasApp && <Apps key="apps" read={read} nowMs={nowMs} />,
    ];
    const shown = cards.filter(Boolean);
    const below = isWell ? shown.slice(1) : [];
    return (
      <>
        <div className="start">
          <CheckResult {...visit} hasApp={hasApp} hadApp={read?.endedApps[0] !== undefined}>
            {licence && terms && (
              <LicenceFacts
                account={account}
                licence={licence}
                terms={{ ...terms, card: undefined, name: state.mayRun ? undefined : terms.name }}
              />
            )}
            {!licence && account.plan === "licensed" && <PlanFacts account={account} nowMs={nowMs} />}
          </CheckResult>
          {isWell ? shown[0] : <div className="beside">{shown}</div>}
        </div>
        {listUnsent(visit.headers).length > 0 && (
          <p className="notice">
            An app is waiting for your approval. <a href={pages.connect.path}>See the request</a>
          </p>
        )}
        {ways && own && <PasskeyOffer accountId={account.id} ways={ways} session={own} />}
        {below.length > 0 && <div className="facts">{below}</div>}
      </>
    );
  }),
);

function OwnPlan({ account, contents, plans }: OwnVisit) {
  const plan = plans.get(contents.plan);
  const lines = contentsInWords(contents, plans);
  return (
    <section className="card" aria-labelledby="plan">
      <h2 id="plan">Your plan: {plan?.title}</h2>
      {lines.length > 0 ? <Lines lines={lines} /> : <p className="quiet">{plan?.description}</p>}
      <GivenUntil account={account} />
      <p>
        <a href={`${pages.billing.path}#plans`}>See the plans</a>
      </p>
    </section>
  );
}

function OwnCredits({ account, state }: OwnVisit) {
  return (
    <section className="card" aria-labelledby="credits">
      <Balance account={account} mayRun={state.mayRun} />
      <p>
        {spendable(account) <= 0 && sellsCreditsTo(account) ? (
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

type AppsProps = { read: Access | undefined; nowMs: number; children?: ReactNode };

/** The apps that were used last, with their last check. */
function Apps({ read, nowMs, children }: AppsProps) {
  const apps = read?.sessions.filter(({ kind }) => kind === "app");
  const latest = apps?.toSorted((one, other) => lastUse(other) - lastUse(one));
  return (
    <section className="card" aria-labelledby="apps">
      <h2 id="apps">Apps and agents</h2>
      {!latest && <p className="quiet">We cannot show your apps at the moment. Nothing is lost.</p>}
      <ul className="entries named">
        {latest?.slice(0, maxApps).map((app) => (
          <li key={app.id} data-key={app.id}>
            <Monogram name={app.name} />
            <span>{app.name}</span>
            <small className="quiet">{usedInWords(app, nowMs)}</small>
          </li>
        ))}
      </ul>
      <p>
        <a href={pages.access.path}>
          {latest && latest.length > maxApps
            ? `All ${latest.length} apps`
            : "Manage apps, or connect another"}
        </a>
      </p>
      {children}
    </section>
  );
}
