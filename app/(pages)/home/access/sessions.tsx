import type { Account } from "@/lib/accounts/account";
import { wantsAppEndMails } from "@/lib/accounts/app-end-switch";
import type { Standing } from "@/lib/accounts/standing";
import { listEndedApps } from "@/lib/auth/ended-app";
import { listSessions, type Session } from "@/lib/auth/session";
import { countCrowdedOut, maxSessions } from "@/lib/auth/session-changes";
import { distinctNames } from "@/lib/auth/session-name";
import { dayMs } from "@/lib/config/durations";
import { describeDistance } from "@/lib/config/instants";
import { sessionDays } from "@/lib/config/session-lifetimes";
import { actions } from "@/lib/http/pages";
import { Clock } from "../../clock";
import { readPart } from "../../read-part";

const hourMs = 60 * 60 * 1000;

export type SessionsProps = {
  /** `undefined` if they cannot be read: the rest of the page does not need them. */
  read: Awaited<ReturnType<typeof readSessions>>;
  accountId: string;
  /** The session that this page is shown in. */
  ownId: string;
  isLocal: boolean;
  /** The list of sessions that the owner has just ended, or any other text for one session. */
  ended: string | undefined;
  hasKept: boolean;
  nowMs: number;
};

/** What the owner has just done on this page, or why there is nothing to do it with. */
export function SessionsNote({ read, ended, hasKept }: Pick<SessionsProps, "read" | "ended" | "hasKept">) {
  return (
    <>
      {ended !== undefined && (
        <p role="status" id="ended" tabIndex={-1}>
          {endedWords.get(ended) ?? "Disconnected. It no longer has access."}
        </p>
      )}
      {hasKept && <p role="status">Your apps have another {sessionDays.app} days.</p>}
      {!read && (
        <p className="quiet">
          We cannot show your sessions at the moment. Nothing is lost. Reload this page in a moment.
        </p>
      )}
    </>
  );
}

/** The browsers that the owner is signed in to, and the tokens that were copied for programs. */
export function BrowsersAndTokens({ read, accountId, ownId, isLocal, nowMs }: SessionsProps) {
  const sessions = read?.sessions ?? [];
  const shown = { accountId, ownId, nowMs, names: distinctNames(sessions) };
  const browsers = sessions.filter(({ kind }) => kind === "browser");
  const tokens = sessions.filter(({ kind }) => kind === "program");
  const others = browsers.filter(({ id }) => id !== ownId);
  const copied = tokens.filter(({ isOperators }) => !isOperators);
  const operators = tokens.filter(({ isOperators }) => isOperators);
  return (
    <>
      <section>
        <h2>{isLocal ? "Browsers you are signed in to" : "Browsers"}</h2>
        <SessionList sessions={browsers} {...shown} />
        {others.length > 0 && (
          <EndAll
            accountId={accountId}
            group="browsers"
            summary="Sign out of all other browsers"
            button={`Sign out of ${count(others, "browser")}`}
          >
            This browser stays signed in. Tokens that were copied in the others end too; apps stay connected.
          </EndAll>
        )}
        {!isLocal && (
          <p className="quiet">
            To see your browsers or sign them out, open your picture at the top, then Manage account, then
            Security.
          </p>
        )}
      </section>
      <section>
        <h2>Copied tokens</h2>
        {read && read.crowdedOut > 0 && (
          <p className="notice">
            An account has at most {maxSessions} sessions. In the last day, the oldest{" "}
            {read.crowdedOut === 1 ? "one" : read.crowdedOut} ended to make room for a new one.
          </p>
        )}
        <SessionList sessions={copied} {...shown} />
        {operators.length > 0 && <OperatorsTokens tokens={operators} accountId={accountId} nowMs={nowMs} />}
        {read && tokens.length === 0 && <p className="quiet">No program has a token.</p>}
        {copied.length > 0 && tokens.length > 1 && (
          <EndAll
            accountId={accountId}
            group="tokens"
            summary="End all tokens"
            button={`End ${count(tokens, "token")}`}
          >
            Programs that use them are refused from their next request on.
          </EndAll>
        )}
      </section>
    </>
  );
}

/** The confirmation after a list was ended, by the list's name in the form. */
const endedWords = new Map([
  ["apps", "All apps are disconnected."],
  ["browsers", "Signed out of all other browsers."],
  ["tokens", "All tokens have ended."],
  ["operator-tokens", "The operator’s tokens have ended."],
]);

export const count = ({ length }: Session[], noun: string) => `${length} ${noun}${length === 1 ? "" : "s"}`;

/** The sessions of an account; `undefined` if they cannot be read. */
export function readSessions({ id, email }: Pick<Account, "id" | "email">, nowMs: number) {
  return readPart("sessions could not be listed", async (db) => ({
    sessions: await listSessions(db, id, nowMs),
    endedApps: await listEndedApps(db, id, nowMs),
    crowdedOut: await countCrowdedOut(db, email, nowMs - dayMs),
    wantsAppEndMails: await wantsAppEndMails(db, id),
  }));
}

type SessionListProps = {
  sessions: Session[];
  /** The name of each session, by its id. */
  names: Map<string, string>;
} & Pick<SessionsProps, "accountId" | "ownId" | "nowMs">;

const shownAtOnce = 20;

export function SessionList({ sessions, ...shown }: SessionListProps) {
  if (sessions.length === 0) return null;
  const more = sessions.slice(shownAtOnce);
  return (
    <>
      <ul className="sessions">
        {sessions.slice(0, shownAtOnce).map((session) => (
          <SessionRow key={session.id} session={session} {...shown} />
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

type SessionRowProps = Omit<SessionListProps, "sessions"> & { session: Session };

function SessionRow({ session: stored, names, accountId, ownId, nowMs }: SessionRowProps) {
  const session = { ...stored, name: names.get(stored.id) ?? stored.name };
  return (
    <li data-key={session.id}>
      <div>
        <Description session={session} isOwn={session.id === ownId} nowMs={nowMs} />
      </div>
      {session.id !== ownId && (
        <EndButton accountId={accountId} session={session.id} label={`End “${session.name}”`}>
          End
        </EndButton>
      )}
    </li>
  );
}

/** The operator's tokens as one row: their owner did not start them and cannot tell one from the other. */
function OperatorsTokens({
  tokens,
  accountId,
  nowMs,
}: { tokens: Session[] } & Pick<SessionsProps, "accountId" | "nowMs">) {
  const lastSeenAtMs = Math.max(...tokens.map(({ lastSeenAtMs }) => lastSeenAtMs ?? 0)) || null;
  return (
    <ul className="sessions">
      <li>
        <div>
          <strong>{count(tokens, "token")} from the operator</strong>
          <p className="quiet">
            {seenInWords(lastSeenAtMs, nowMs)}, until{" "}
            <Clock atMs={Math.max(...tokens.map(({ endsAtMs }) => endsAtMs))} shows="day and time" />
          </p>
        </div>
        <EndAll
          accountId={accountId}
          group="operator-tokens"
          summary="End the operator’s tokens"
          button={`End ${count(tokens, "token")} from the operator`}
        >
          Ask the operator if you do not know what they are for.
        </EndAll>
      </li>
    </ul>
  );
}

const startWords = { app: "Approved", browser: "Signed in", program: "Copied" };

export function Description({ session, isOwn, nowMs }: { session: Session; isOwn: boolean; nowMs: number }) {
  const { kind, name, origin, begunAtMs, startedIn, endsAtMs, lastDateMs } = session;
  return (
    <>
      <strong>{name}</strong> {origin && <span className="tag">{origin}</span>}
      {isOwn && <span className="tag">This browser</span>}
      <p className="quiet">
        {begunAtMs !== null && (
          <>
            {startWords[kind]} on <Clock atMs={begunAtMs} shows="day and time" />
            {kind !== "browser" && startedIn.browser && ` in ${startedIn.browser}`}
            {startedIn.network && ` from the address ${startedIn.network}`},{" "}
          </>
        )}
        {isOwn ? "in use now" : usedInWords(session, nowMs)}, until{" "}
        <Clock atMs={endsAtMs} shows="day and time" />
        {lastDateMs !== null && lastDateMs > endsAtMs && (
          <>
            {" "}
            without further use, <Clock atMs={lastDateMs} shows="date" /> at the latest
          </>
        )}
      </p>
    </>
  );
}

const yeses: readonly (string | null)[] = ["licensed", "trial", "hobby"] satisfies Standing["status"][];

/** Whether an app that was told this status may run the company. */
export const isYes = (told: Session["told"]) => yeses.includes(told);

/** The last check of an app, or else the last use of the session. */
export function usedInWords({ checkedAtMs, told, lastSeenAtMs }: Session, nowMs: number): string {
  if (checkedAtMs === null || told === null) return seenInWords(lastSeenAtMs, nowMs);
  return `checked ${describeDistance(checkedAtMs, nowMs)}, told ${isYes(told) ? "yes" : "no"}`;
}

/** The last use is stored to the hour. */
function seenInWords(lastSeenAtMs: number | null, nowMs: number): string {
  if (lastSeenAtMs === null) return "not used yet";
  const hours = Math.floor((nowMs - lastSeenAtMs) / hourMs);
  if (hours < 1) return "used within the last hour";
  if (hours < 48) return hours === 1 ? "used an hour ago" : `used ${hours} hours ago`;
  return `used ${Math.floor(hours / 24)} days ago`;
}

type EndAllProps = { accountId: string; group: string; summary: string; button: string; children: string };

/** Ends a list of sessions, after a question that also works without JavaScript. */
export function EndAll({ accountId, group, summary, button, children }: EndAllProps) {
  return (
    <details className="confirm">
      <summary className="button plain">{summary}</summary>
      <p>{children}</p>
      <EndButton accountId={accountId} session={group}>
        {button}
      </EndButton>
    </details>
  );
}

type EndButtonProps = { accountId: string; session: string; label?: string; children: string };

/** A button that ends a session by its id, or a list of them by its name. */
function EndButton({ accountId, session, label, children }: EndButtonProps) {
  return (
    <form method="post" action={actions.endSession.path}>
      <input type="hidden" name="account" value={accountId} />
      <button type="submit" name="session" value={session} className="plain" aria-label={label}>
        {children}
      </button>
    </form>
  );
}
