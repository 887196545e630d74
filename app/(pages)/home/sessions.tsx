import type { Account } from "@/lib/accounts/account";
import { wantsAppEndMails } from "@/lib/accounts/app-end-switch";
import { listReplayedSessions, listSessions, type Session } from "@/lib/auth/session";
import { store } from "@/lib/db/store";
import { actions, pages } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";
import { Clock } from "../clock";

const hourMs = 60 * 60 * 1000;

type SessionsProps = {
  /** `undefined` if they cannot be read: the rest of the page does not need them. */
  read: Awaited<ReturnType<typeof readSessions>>;
  accountId: string;
  /** The session that this page is shown in. */
  ownId: string;
  isLocal: boolean;
  /** Whether the owner has just ended a session. */
  hasEnded: boolean;
  /** Whether the owner has just given an app another week. */
  hasExtended: boolean;
  nowMs: number;
};

/** The account's sessions (apps, browsers and programs), each with a button that ends it. */
export function Sessions({ read, accountId, ownId, isLocal, hasEnded, hasExtended, nowMs }: SessionsProps) {
  const sessions = read?.sessions;
  const list = (some: Session[]) => (
    <SessionList sessions={some} accountId={accountId} ownId={ownId} nowMs={nowMs} />
  );
  const apps = sessions?.filter(({ kind }) => kind === "app") ?? [];
  const others = sessions?.filter(({ kind }) => kind !== "app") ?? [];
  const endable = sessions?.filter(({ id }) => id !== ownId) ?? [];
  return (
    <section id="sessions">
      {hasEnded && (
        <p role="status" id="ended" tabIndex={-1}>
          Disconnected. It no longer has access.
        </p>
      )}
      {hasExtended && <p role="status">The app has another week.</p>}
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
      {read && apps.length > 0 && <MailSwitch accountId={accountId} isOn={read.wantsAppEndMails} />}
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

/** What this section shows of an account; `undefined` if it cannot be read. */
export async function readSessions({ id, email }: Pick<Account, "id" | "email">, nowMs: number) {
  try {
    const db = await store();
    return {
      sessions: await listSessions(db, id, nowMs),
      replayed: await listReplayedSessions(db, email, nowMs),
      wantsAppEndMails: await wantsAppEndMails(db, id),
    };
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
          <div>
            <Description session={session} isOwn={session.id === ownId} nowMs={nowMs} />
            {session.kind === "app" && <AnotherWeek accountId={accountId} session={session} nowMs={nowMs} />}
          </div>
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
    <>
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
    </>
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

function endInWords(leftMs: number): string {
  const hours = Math.ceil(leftMs / hourMs);
  if (hours <= 1) return "Ends within the hour";
  return hours < 36 ? `Ends in ${hours} hours` : `Ends in ${Math.round(hours / 24)} days`;
}

type AnotherWeekProps = { accountId: string; session: Session; nowMs: number };

/** When an app loses its access, and a button that gives it another week. */
function AnotherWeek({ accountId, session: { id, name, endsAtMs }, nowMs }: AnotherWeekProps) {
  return (
    <form method="post" action={actions.extendApp.path}>
      <input type="hidden" name="account" value={accountId} />
      {`${endInWords(endsAtMs - nowMs)} · `}
      <button
        type="submit"
        name="session"
        value={id}
        className="linklike"
        aria-label={`Give it another week: “${name}”`}
      >
        Give it another week
      </button>
    </form>
  );
}

/** Switches the mails a day before the end of an app. */
function MailSwitch({ accountId, isOn }: { accountId: string; isOn: boolean }) {
  return (
    <form method="post" action={actions.switchAppMails.path} className="quiet">
      <input type="hidden" name="account" value={accountId} />
      {isOn
        ? "We email you a day before an app that you use loses access."
        : "We do not email you before an app loses access."}{" "}
      <button type="submit" name="mails" value={isOn ? "off" : "on"} className="linklike">
        {isOn ? "Stop these emails" : "Send these emails"}
      </button>
    </form>
  );
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
