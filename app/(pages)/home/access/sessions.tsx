import type { Session } from "@/lib/auth/sessions/session";
import { namedBySystem } from "@/lib/auth/sessions/session-name";
import { maxSessions } from "@/lib/auth/sessions/session-start";
import { hourMs } from "@/lib/config/durations";
import { describeDistance } from "@/lib/config/instants";
import { forms } from "@/lib/http/register/forms";
import type { Standing } from "@/lib/plans/standing";
import { Clock } from "../../clock";
import { Icon, Monogram } from "../../icons";
import { PostButton } from "../../post-form";
import type { Access } from "./read-access";
import { sessionGroups } from "./session-groups";

/** What every list of sessions on the page needs. */
export type ListProps = {
  accountId: string;
  /** The session that this page is shown in. */
  ownId: string;
  nowMs: number;
};

export type SessionsProps = ListProps & {
  /** `undefined` if they cannot be read: the rest of the page does not need them. */
  read: Access | undefined;
};

/** The browsers that the owner is signed in to. */
export function Browsers({ read, isLocal, ...shown }: SessionsProps & { isLocal: boolean }) {
  const browsers = read?.sessions.filter(({ kind }) => kind === "browser") ?? [];
  const own = browsers.filter(({ id }) => id === shown.ownId);
  const others = browsers.filter(({ id }) => id !== shown.ownId);
  return (
    <section>
      <h2>{isLocal ? "Where you are signed in" : "Browsers"}</h2>
      <SessionList sessions={[...own, ...others]} {...shown} />
      {others.length > 0 && <EndAll {...shown} group="browsers" what={count(others, "browser")} />}
      {!isLocal && (
        <p className="quiet">
          To see your browsers or sign them out, open your picture at the top, then Manage account, then
          Security.
        </p>
      )}
    </section>
  );
}

/** The tokens that were copied for programs. */
export function Tokens({ read, ...shown }: SessionsProps) {
  const tokens = read?.sessions.filter(({ kind }) => kind === "program") ?? [];
  const copied = tokens.filter(({ isOperators }) => !isOperators);
  const operators = tokens.filter(({ isOperators }) => isOperators);
  return (
    <section id="tokens">
      <h2>Your tokens</h2>
      {read && tokens.length === 0 && <p className="quiet">None is valid now.</p>}
      {read && read.crowdedOut > 0 && (
        <p className="notice">
          An account has at most {maxSessions} sessions. In the last day, the oldest{" "}
          {read.crowdedOut === 1 ? "one" : read.crowdedOut} ended to make room for a new one.
        </p>
      )}
      <SessionList sessions={copied} {...shown} />
      {operators.length > 0 && <OperatorsTokens tokens={operators} {...shown} />}
      {copied.length > 0 && tokens.length > 1 && (
        <EndAll {...shown} group="tokens" what={count(tokens, "token")} />
      )}
    </section>
  );
}

export const count = ({ length }: Session[], noun: string) => `${length} ${noun}${length === 1 ? "" : "s"}`;

const shownAtOnce = 20;

export function SessionList({ sessions, ...shown }: ListProps & { sessions: Session[] }) {
  if (sessions.length === 0) return null;
  const more = sessions.slice(shownAtOnce);
  const own = sessions.find(({ id }) => id === shown.ownId);
  return (
    <>
      <ul className="rows joined">
        {sessions.slice(0, shownAtOnce).map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            ownNetwork={own && networkOf(own)}
            end={{ action: forms.endSession.path, hidden: { account: shown.accountId } }}
            {...shown}
          />
        ))}
      </ul>
      {more.length > 0 && (
        <details>
          <summary>Show {more.length} more</summary>
          <SessionList sessions={more} {...shown} />
        </details>
      )}
    </>
  );
}

type SessionRowProps = {
  session: Session;
  nowMs: number;
  ownId?: string;
  /** The network of the browser that this page is shown in. */
  ownNetwork?: string | null | undefined;
  /** What ends a session of this account. */
  end: { action: string; hidden: Record<string, string> };
};

const startWords = { app: "Approved", browser: "Signed in", program: "Copied" };
const endWords = { app: "Disconnect", browser: "Sign out", program: "End" };

/** Where a session was used last, as far as that is known. */
const networkOf = ({ renewedFrom: [last], startedIn }: Session) => last ?? startedIn.network;

/** Whether an app has the name that we give to what is nowhere else, so that the name says where it is. */
const saysOrigin = ({ name, app_origin }: Session) =>
  app_origin === "a program on a computer" && name.startsWith(namedBySystem);

/** A session in one line. Behind it are its details, and a button that ends it unless the page is shown in it. */
export function SessionRow({ session, ownId, ownNetwork, end, nowMs }: SessionRowProps) {
  const { id, kind, name, app_origin, begun_at_ms, startedIn, expires_at_ms, last_date_ms, renewedFrom } =
    session;
  const isOwn = id === ownId;
  const network = kind === "browser" && networkOf(session);
  const isElsewhere = network && network !== ownNetwork;
  return (
    <li data-key={id}>
      <details className="session" open={session.in_turn_since_ms !== null}>
        <summary>
          {kind === "app" ? <Monogram name={name} /> : <Icon name={kind} />}
          <span>
            <strong>{(isOwn && startedIn.browser) || name}</strong>{" "}
            {app_origin && !saysOrigin(session) && <span className="tag">{app_origin}</span>}
            {name.startsWith(namedBySystem) && <span className="tag">Gave no name</span>}
            {isOwn && <span className="tag">This browser</span>}
            {session.in_turn_since_ms !== null && <span className="tag">Used in several places</span>}
            {session.bound_at_ms !== null && <span className="tag">Bound to its device</span>}
            <small className="quiet">
              {isOwn ? "active now" : usedInWords(session, nowMs)}
              {isElsewhere && ` · ${ownNetwork ? "on another connection" : network}`} · until{" "}
              <Until session={session} />
            </small>
          </span>
        </summary>
        <dl className="quiet">
          {begun_at_ms !== null && (
            <>
              <dt>{startWords[kind]}</dt>
              <dd>
                <Clock atMs={begun_at_ms} shows="day and time" />
                {kind !== "browser" && startedIn.browser && ` in ${startedIn.browser}`}
                {startedIn.network && ` from ${startedIn.network}`}
              </dd>
            </>
          )}
          {renewedFrom.length > 0 && (
            <>
              <dt>Last seen from</dt>
              <dd>{renewedFrom.join(", ")}</dd>
            </>
          )}
          <dt>Ends</dt>
          <dd>
            <Clock atMs={expires_at_ms} shows="day and time" />
            {last_date_ms !== null && last_date_ms > expires_at_ms && (
              <>
                {" "}
                without further use, on <Clock atMs={last_date_ms} shows="date" /> at the latest
              </>
            )}
          </dd>
        </dl>
        {session.in_turn_since_ms !== null && (
          <p className="quiet">
            Since <Clock atMs={session.in_turn_since_ms} shows="day and time" /> it goes back and forth
            between several places. That is usual for a phone or a laptop on the move,{" "}
            {kind === "browser"
              ? "and for connections with two kinds of internet address. If it stays in one place, someone else may have copied its sign-in: sign it out, and sign in again."
              : "and for an agent in a data centre. If it runs in one place, someone else may have a copy: end it here, and connect it again."}
          </p>
        )}
        {!isOwn && (
          <PostButton
            action={end.action}
            hidden={{ ...end.hidden, session: id, ...(kind === "program" && { of: "tokens" }) }}
            label={`${endWords[kind]} “${name}”`}
            look="danger small"
          >
            {endWords[kind]}
          </PostButton>
        )}
      </details>
    </li>
  );
}

/** When a session ends; its last date, which use does not move, is in its details. */
function Until({ session: { kind, expires_at_ms, last_date_ms } }: Pick<SessionRowProps, "session">) {
  if (kind === "program") return <Clock atMs={expires_at_ms} shows="time" />;
  const end = <Clock atMs={expires_at_ms} shows="day" />;
  return last_date_ms === null || last_date_ms <= expires_at_ms ? end : <>{end} if unused</>;
}

/** The operator's tokens as one row: their owner did not start them and cannot tell one from the other. */
function OperatorsTokens({ tokens, ...shown }: ListProps & { tokens: Session[] }) {
  const what = `${count(tokens, "token")} that we made for you`;
  const lastSeenAtMs = Math.max(...tokens.map(({ last_seen_at_ms }) => last_seen_at_ms ?? 0)) || null;
  return (
    <ul className="rows">
      <li>
        <div>
          <strong>{what}</strong>
          <p className="quiet">
            {seenInWords(lastSeenAtMs, shown.nowMs)}, until{" "}
            <Clock
              atMs={Math.max(...tokens.map(({ expires_at_ms }) => expires_at_ms))}
              shows="day and time"
            />
          </p>
        </div>
        <EndAll {...shown} group="operator-tokens" what={what} />
      </li>
    </ul>
  );
}

const yeses: readonly (string | null)[] = ["licensed", "trial", "hobby"] satisfies Standing["status"][];

/** Whether assistants may work in an app that was told this status. */
export const isYes = (told: Session["told"]) => yeses.includes(told);

/** The last check of an app, or else the last use of the session. */
export function usedInWords({ kind, checked_at_ms, told, last_seen_at_ms }: Session, nowMs: number): string {
  if (kind === "browser" && last_seen_at_ms === null) return "not used since it signed in";
  if (checked_at_ms === null || told === null) return seenInWords(last_seen_at_ms, nowMs);
  const distance = describeDistance(checked_at_ms, nowMs);
  return `checked ${distance === "now" ? "just now" : distance}: ${isYes(told) ? "" : "not "}allowed`;
}

/** The last use is stored to the hour. */
function seenInWords(lastSeenAtMs: number | null, nowMs: number): string {
  if (lastSeenAtMs === null) return "not used yet";
  if (nowMs - lastSeenAtMs < hourMs) return "active this hour";
  return `used ${describeDistance(lastSeenAtMs, nowMs)}`;
}

type EndAllProps = { accountId: string; group: keyof typeof sessionGroups; what: string };

/** Ends a group of sessions, after a question that also works without JavaScript. */
export function EndAll({ accountId, group, what }: EndAllProps) {
  const { summary, warning, verb } = sessionGroups[group];
  return (
    <details className="confirm">
      <summary className="button danger small">{summary}</summary>
      <p>{warning}</p>
      <PostButton
        action={forms.endSession.path}
        hidden={{ account: accountId, session: group }}
        look="danger"
      >
        {`${verb} ${what}`}
      </PostButton>
    </details>
  );
}
