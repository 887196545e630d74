import { SessionRow } from "@/app/(pages)/home/access/sessions";
import { PostButton } from "@/app/(pages)/post-form";
import { endSessionAct } from "@/lib/admin/session";
import type { Session } from "@/lib/auth/sessions/session";
import { withDistinctNames } from "@/lib/auth/sessions/session-name";

const maxSessions = 50;

/** The sessions and apps as their owner sees them, each with a button that ends it. */
export function Sessions({ email, sessions, nowMs }: { email: string; sessions: Session[]; nowMs: number }) {
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
        <PostButton
          action={endSessionAct.form.path}
          hidden={{ email, all: "all" }}
          label={`End all ${sessions.length} sessions`}
        >
          End all {sessions.length}
        </PostButton>
      )}
    </>
  );
}
