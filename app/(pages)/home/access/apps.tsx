import { type EndedApp, wordsForOwner } from "@/lib/auth/sessions/ended-app";
import type { Session } from "@/lib/auth/sessions/session";
import { sessionDays } from "@/lib/config/lifetimes";
import { forms } from "@/lib/http/register/forms";
import { Clock } from "../../clock";
import { PostButton } from "../../post-form";
import { count, EndAll, SessionList, type SessionsProps } from "./sessions";

/** The apps and agents that the account is connected to, and those that ended lately. */
export function Apps({ read, ...shown }: SessionsProps) {
  const { accountId } = shown;
  const apps = read?.sessions.filter(({ kind }) => kind === "app") ?? [];
  return (
    <section id="sessions">
      <h2>Connected apps and agents</h2>
      <SessionList sessions={apps} {...shown} />
      {read && apps.length === 0 && (
        <p className="quiet">
          {read.endedApps.length === 0 ? "No apps connected yet." : "No app is connected."}
        </p>
      )}
      {apps.length > 0 && (
        <div className="keep">
          <PostButton action={forms.keepApps.path} hidden={{ account: accountId }} look="plain small">
            {`Keep all for another ${sessionDays.app} days`}
          </PostButton>
          <EndAll accountId={accountId} group="apps" what={count(apps, "app")} />
        </div>
      )}
      {read && <EndedApps ended={read.endedApps} apps={apps} />}
    </section>
  );
}

function EndedApps({ ended, apps }: { ended: EndedApp[]; apps: Session[] }) {
  if (ended.length === 0) return null;
  const isBack = ({ name, app_origin }: EndedApp) =>
    apps.some((app) => `${app.name},`.startsWith(`${name},`) && app.app_origin === app_origin);
  return (
    <details className="fold" open={apps.length === 0}>
      <summary>Ended in the last {sessionDays.ended} days</summary>
      <ul className="rows">
        {ended.map((app) => (
          <li key={app.id} data-key={app.id}>
            <div>
              <strong>{app.name}</strong> {app.app_origin && <span className="tag">{app.app_origin}</span>}
              <p className="quiet">
                Ended on <Clock atMs={app.expires_at_ms} shows="day and time" />: {wordsForOwner[app.ending]}.
              </p>
            </div>
            {isBack(app) ? (
              <span className="quiet">Connected again</span>
            ) : (
              <a href="#connect-something">Connect again</a>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
