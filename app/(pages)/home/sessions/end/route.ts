import { ownerForm } from "@/lib/accounts/owner-form";
import { endSessionsOf, type SessionGroup } from "@/lib/auth/session-changes";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** The lists of sessions on the page that one button ends. */
const groups = new Map<string, SessionGroup>([
  ["browsers", { kind: "browser" }],
  ["apps", { kind: "app" }],
  ["tokens", { kind: "program" }],
  ["operator-tokens", { kind: "program", begunBy: "operator" }],
]);

/** Ends one of the owner's sessions by its id, or a list of them, except the browser's own. */
export const POST = ownerForm(actions.endSession, async ({ field, nowMs }, { account, session, by }) => {
  const named = field("session");
  const group = groups.get(named);
  const which = group ? { ...group, allBut: session?.sessionId } : { id: named };
  const about = { by, what: "session end" } as const;
  await endSessionsOf(await store(), about, account.id, which, nowMs);
  return { to: `${actions.endSession.page}?ended${group ? `=${named}` : ""}#ended` };
});
