import { SessionRow } from "@/app/(pages)/home/access/sessions";
import { endSessionAct } from "@/lib/admin/session";
import type { Session } from "@/lib/auth/sessions/session";
import { withDistinctNames } from "@/lib/auth/sessions/session-name";
import { ActFold } from "@/lib/office/act-form";
import type { OfficeCall } from "@/lib/office/page";

const maxSessions = 50;

type SessionsProps = { call: OfficeCall; email: string; sessions: Session[]; nowMs: number };

/** The sessions and apps as their owner sees them, each with a button that ends it. */
export function Sessions({ call, email, sessions, nowMs }: SessionsProps) {
  const end = { action: endSessionAct.form.path, hidden: { email } };
  return (
    <>
      <h2>Sessions and apps</h2>
      {sessions.length === 0 && <p className="quiet">None.</p>}
      <ul className="rows joined">
        {withDistinctNames(sessions)
          .slice(0, maxSessions)
          .map((session) => (
            <SessionRow key={session.id} session={session} end={end} nowMs={nowMs} />
          ))}
      </ul>
      {sessions.length > 1 && (
        <ActFold
          title={`Sign them out everywhere: all ${sessions.length}`}
          act={endSessionAct}
          call={call}
          hidden={{ email, all: "all" }}
        >
          <button type="submit" className="danger">
            End all {sessions.length}
          </button>
        </ActFold>
      )}
    </>
  );
}
