import { InvalidArgumentError } from "commander";
import { findAccount } from "@/lib/accounts/accounts";
import { countSessions } from "@/lib/accounts/explanation";
import { act, shellAct } from "@/lib/admin/act";
import { asTable } from "@/lib/admin/print";
import { listSessions } from "@/lib/auth/sessions/session";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import { asIso } from "@/lib/config/instants";
import { ApiError } from "@/lib/http/errors";

const listAct = shellAct({
  usage: "list <email>",
  words:
    "list the sessions, newest first, and by which way (code or passkey) their owner last confirmed them; with Clerk, browser sessions are in Clerk's dashboard",
  async run({ db, nowMs }, { email }: { email: string }) {
    const { id } = await findAccount(db, email);
    const sessions = (await listSessions(db, id, nowMs)).map((session) => ({
      id: session.id,
      kind: session.kind,
      name: session.name,
      origin: session.app_origin,
      confirmedBy: session.confirmed_by,
      confirmedAt: asIso(session.confirmed_at_ms),
      begunAt: asIso(session.begun_at_ms),
      lastSeenAt: asIso(session.last_seen_at_ms),
      endsAt: asIso(session.expires_at_ms),
      lastDate: asIso(session.last_date_ms),
    }));
    return { json: sessions, text: asTable(sessions, "No sessions found.") };
  },
});

type Given = { email: string; session?: string; all?: boolean };

export const endSessionAct = act({
  usage: "end <email> [session]",
  words: "end one session, or all with --all",
  effect: {
    does: "There is no access from the next request on.",
    undo: "The owner can sign in, or connect the app, again at any time.",
  },
  fields: { all: { option: "--all", words: "every session", read: (typed) => typed !== "" } },
  form: { path: "/account/sessions/end", name: "end the access", done: "Ended. It no longer has access." },
  async run({ db, by, nowMs, confirm }, { email, session: id, all }: Given) {
    if (Boolean(all) === Boolean(id))
      throw new InvalidArgumentError("pass an id from 'session list', or --all");
    const account = await findAccount(db, email);
    const ending = id ?? countSessions(await listSessions(db, account.id, nowMs));
    if (all) await confirm(`This ends ${ending} of ${email}.`);
    const which = id ? { id } : {};
    const about = { by, what: "session end", accountId: account.id, which } as const;
    if (!(await endSessionsOf(db, about, nowMs)) && !all) {
      throw new ApiError("not_found", {
        message: "This account has no such session.",
        hint: "It may have ended meanwhile.",
      });
    }
    return { json: { email, ended: id ?? "all" }, text: `Ended ${ending} of ${email}.` };
  },
  async preview({ db, nowMs }, { email, session: id }) {
    const sessions = await listSessions(db, (await findAccount(db, email)).id, nowMs);
    const ending = id ? sessions.filter((session) => session.id === id) : sessions;
    const before = id ? (ending[0]?.name ?? countSessions(ending)) : countSessions(ending);
    return { whom: email, changes: [{ what: "Access", before, after: "ended" }] };
  },
});

export const sessionActs = [listAct, endSessionAct];
