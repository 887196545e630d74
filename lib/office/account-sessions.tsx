import { Description } from "@/app/(pages)/home/sessions";
import { findAccount } from "@/lib/accounts/accounts";
import { endSessionsOf, type Session } from "@/lib/auth/session";
import { distinctNames } from "@/lib/auth/session-name";
import { ActButton } from "@/lib/office/forms";
import { accountAddress, type OfficeAct, requireEmail } from "@/lib/office/page";

const maxShown = 50;

/** The sessions and apps as their owner sees them, each with a button that ends it. */
export function Sessions({ email, sessions, nowMs }: { email: string; sessions: Session[]; nowMs: number }) {
  const names = distinctNames(sessions);
  return (
    <>
      <h2>Sessions and apps</h2>
      {sessions.length === 0 && <p className="quiet">None.</p>}
      <ul className="sessions">
        {sessions
          .slice(0, maxShown)
          .map((session) => ({ ...session, name: names.get(session.id) ?? session.name }))
          .map((session) => (
            <li key={session.id}>
              <div>
                <Description session={session} isOwn={false} nowMs={nowMs} />
              </div>
              <ActButton
                act={endSessions}
                hidden={{ email, session: session.id }}
                label={`End “${session.name}”`}
              >
                End
              </ActButton>
            </li>
          ))}
      </ul>
      {sessions.length > 1 && (
        <ActButton
          act={endSessions}
          hidden={{ email, session: "all" }}
          label={`End all ${sessions.length} sessions`}
        >
          End all {sessions.length}
        </ActButton>
      )}
    </>
  );
}

export const endSessions: OfficeAct = {
  path: "/account/sessions/end",
  name: "end the access",
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { id } = await findAccount(db, email);
    const session = input("session") ?? "";
    const which = session === "all" ? "all" : { id: session };
    await endSessionsOf(db, { by, what: "session end" }, id, which, nowMs);
    return accountAddress(email, "ended");
  },
};
