import type { Account } from "@/lib/accounts/account";
import { listReplayedSessions, listSessions, type ReplayedSession, type Session } from "@/lib/auth/session";
import { store } from "@/lib/db/store";
import { actions, pages } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";
import { Clock } from "../clock";

const hourMs = 60 * 60 * 1000;

type SessionsProps = {
  /** `undefined` if they cannot be read: the rest of the page does not need them. */
  read: Read | undefined;
  accountId: string;
  /** The session that this page is shown in. */
  ownId: string;
  isLocal: boolean;
  /** Whether the owner has just ended a session. */
  hasEnded: boolean;
  nowMs: number;
};

/** The account's sessions (apps, browsers and programs), each with a button that ends it. */
export function Sessions({ read, accountId, ownId, isLocal, hasEnded, nowMs }: SessionsProps) {
  const sessions = read?.sessions;
  const list = (some: Session[]) => (
    <SessionList sessions={some} accountId={accountId} ownId={ownId} nowMs={nowMs} />
  );
  const apps = sessions?.filter(({ kind }) => kind === "app") ?? [];
  const others = sessions?.filter(({ kind }) => kind !== "app") ?? [];
  const endable = sessions?.filter(({ id }) => id !== ownId) ?? [];
  return (
    <section id="sessions">
      {hasEnded && <p role="status">Disconnected. It no longer has access.</p>}
      {!sessions && (
        <p className="quiet">
          We cannot show your sessions at the moment. Nothing is lost. Reload this page in a moment.
        </p>
      )}
      <h2>Connected apps and agents</h2>
      {read?.replayed.map(({ name, endedAtMs }) => (
        <p className="notice" key={endedAtMs}>
          “{name}” was disconnected on <Clock atMs={endedAtMs} shows="day and time" />: an old token of it was
          used again, so someone else may have a copy. All its tokens are now invalid. Connect it again if you
          trust the device that it runs on.
        </p>
      ))}
      {apps.length > 0 && list(apps)}
      {sessions && apps.length === 0 && <p className="quiet">No apps connected yet.</p>}
      <p className="quiet">
        Is a device showing you a code? <a href={pages.connect.path}>Connect it</a>
      </p>
      <h2>{isLocal ? "Where you are signed in" : "Programs with a token"}</h2>
      {others.length > 0 && list(others)}
      {sessions && others.length === 0 && <p className="quiet">No program has a token.</p>}
      {endable.length > 1 && (
        <EndButton accountId={accountId} session="others">
          {isLocal ? "End all others" : "End all"}
        </EndButton>
      )}
      {!isLocal && (
        <p className="quiet">
          To see your browsers or sign them out, open your picture at the top, then Manage account, then
          Security.
        </p>
      )}
    </section>
  );
}

type Read = { sessions: readonly Session[]; replayed: readonly ReplayedSession[] };

/** The account's sessions, and those that ended because of a replay; `undefined` if they cannot be read. */
export async function readSessions(
  { id, email }: Pick<Account, "id" | "email">,
  nowMs: number,
): Promise<Read | undefined> {
  try {
    const db = await store();
    const sessions = await listSessions(db, id, nowMs);
    return { sessions, replayed: await listReplayedSessions(db, email, nowMs) };
  } catch (failure) {
    log().error({ err: failure }, "sessions could not be listed");
    return undefined;
  }
}

type SessionListProps = { sessions: Session[] } & Pick<SessionsProps, "accountId" | "ownId" | "nowMs">;

function SessionList({ sessions, accountId, ownId, nowMs }: SessionListProps) {
  return (
    <ul className="sessions">
      {sessions.map((session) => (
        <li key={session.id}>
          <Description session={session} isOwn={session.id === ownId} nowMs={nowMs} />
          {session.id !== ownId && (
            <EndButton accountId={accountId} session={session.id} name={session.name}>
              End
            </EndButton>
          )}
        </li>
      ))}
    </ul>
  );
}

function Description({ session, isOwn, nowMs }: { session: Session; isOwn: boolean; nowMs: number }) {
  const { name, begunAtMs, lastSeenAtMs, endsAtMs } = session;
  return (
    <div>
      <strong>{name}</strong> {isOwn && <span className="tag">This browser</span>}
      <p className="quiet">
        {begunAtMs !== null && (
          <>
            Since <Clock atMs={begunAtMs} shows="day and time" />,{" "}
          </>
        )}
        {isOwn ? "in use now" : seenInWords(lastSeenAtMs, nowMs)}, until{" "}
        <Clock atMs={endsAtMs} shows="day and time" />
      </p>
    </div>
  );
}

/** The last use is stored to the hour. */
function seenInWords(lastSeenAtMs: number | null, nowMs: number): string {
  if (lastSeenAtMs === null) return "not used yet";
  const hours = Math.floor((nowMs - lastSeenAtMs) / hourMs);
  if (hours < 1) return "used within the last hour";
  if (hours < 48) return hours === 1 ? "used an hour ago" : `used ${hours} hours ago`;
  return `used ${Math.floor(hours / 24)} days ago`;
}

type EndButtonProps = { accountId: string; session: string; name?: string; children: string };

/** A button that ends a session by its id, or `others`. */
function EndButton({ accountId, session, name, children }: EndButtonProps) {
  return (
    <form method="post" action={actions.endSession.path}>
      <input type="hidden" name="account" value={accountId} />
      <button
        type="submit"
        name="session"
        value={session}
        className="plain"
        aria-label={name && `End “${name}”`}
      >
        {children}
      </button>
    </form>
  );
}
