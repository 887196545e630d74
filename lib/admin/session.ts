import type { Command } from "commander";
import { findAccount } from "@/lib/accounts/accounts";
import { asTable, parseEmail, type Run } from "@/lib/admin/command";
import { ApiError } from "@/lib/api/errors";
import { endSessionsOf, listSessions, type Session } from "@/lib/session/session";

/** `session list|end`. */
export function addSessionCommands(program: Command, run: Run): void {
  const session = program.command("session").description("the sessions of an account");

  session
    .command("list")
    .description(
      "list its sessions, the newest first; under Clerk those of browsers are in Clerk's dashboard",
    )
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const { id } = await findAccount(db, email);
        const sessions = (await listSessions(db, id, Date.now())).map(describeSession);
        return { json: sessions, text: asTable(sessions, "There are no sessions.") };
      }),
    );

  const end = session.command("end");
  end
    .description("end one of its sessions, or with --all every one")
    .argument("<email>", "", parseEmail)
    .argument("[id]")
    .option("--all", "every session")
    .action(
      run(async (db, email: string, sessionId: string | undefined, { all = false }: { all?: boolean }) => {
        if (all === (sessionId !== undefined)) end.error("error: give an id from 'session list', or --all");
        const { id } = await findAccount(db, email);
        const hasEnded = await endSessionsOf(db, id, sessionId === undefined ? "all" : { id: sessionId });
        if (!hasEnded && !all) {
          throw new ApiError("not_found", {
            message: "This account has no such session.",
            hint: "See 'session list'.",
          });
        }
        const text = all ? `Ended the sessions of ${email}.` : `Ended ${sessionId}.`;
        return { json: { email, ended: all ? "all" : sessionId }, text };
      }),
    );
}

function describeSession({ id, kind, name, begunAtMs, lastSeenAtMs, endsAtMs }: Session) {
  const at = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return { id, kind, name, begunAt: at(begunAtMs), lastSeenAt: at(lastSeenAtMs), endsAt: at(endsAtMs) };
}
