import { findAccount } from "@/lib/accounts/accounts";
import { countSessions } from "@/lib/accounts/explanation";
import type { AdminCommand } from "@/lib/admin/command";
import { asTable } from "@/lib/admin/print";
import { listSessions } from "@/lib/auth/sessions/session";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import { asIso } from "@/lib/config/instants";
import { ApiError } from "@/lib/http/errors";

/** `session list|end`. */
export function addSessionCommands(program: AdminCommand): void {
  const session = program.command("session").description("the sessions of an account");

  session
    .add(
      "list <email>",
      "list the sessions, newest first, and by which way (code or passkey) their owner last confirmed them; with Clerk, browser sessions are in Clerk's dashboard",
    )
    .does(async ({ db }, email: string) => {
      const { id } = await findAccount(db, email);
      const sessions = (await listSessions(db, id, Date.now())).map((session) => ({
        ...{ id: session.id, kind: session.kind, name: session.name, origin: session.app_origin },
        confirmedBy: session.confirmed_by,
        confirmedAt: asIso(session.confirmed_at_ms),
        begunAt: asIso(session.begun_at_ms),
        lastSeenAt: asIso(session.last_seen_at_ms),
        endsAt: asIso(session.expires_at_ms),
        lastDate: asIso(session.last_date_ms),
      }));
      return { json: sessions, text: asTable(sessions, "No sessions found.") };
    });

  const end = session.add("end <email> [id]", "end one session, or all with --all");
  end
    .option("--all", "every session")
    .does(async ({ db, confirm }, email: string, id: string | undefined, { all }: { all?: true }) => {
      if (Boolean(all) === (id !== undefined)) end.error("error: pass an id from 'session list', or --all");
      const account = await findAccount(db, email);
      const nowMs = Date.now();
      const about = { by: "operator", what: "session end" } as const;
      const which = id === undefined ? {} : { id };
      const ending = id ?? countSessions(await listSessions(db, account.id, nowMs));
      if (all) await confirm(`This ends ${ending} of ${email}.`);
      const hasEnded = await endSessionsOf(db, { ...about, accountId: account.id, which }, nowMs);
      if (!hasEnded && !all) {
        throw new ApiError("not_found", {
          message: "This account has no such session.",
          hint: "See 'session list'.",
        });
      }
      return { json: { email, ended: id ?? "all" }, text: `Ended ${ending} of ${email}.` };
    });
}
