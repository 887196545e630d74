import { requireOwner } from "@/lib/accounts/owner";
import { endSessionsOf } from "@/lib/auth/session";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

/** Ends one of the owner's sessions by its id, or with `others` all but the browser's own. */
export const POST = form(
  actions.endSession,
  () => pages.home.path,
  async (submission) => {
    const { account, session, by } = await requireOwner(submission, submission.field("account"));
    const { nowMs } = submission;
    const named = submission.field("session");
    const others = session ? { allBut: session.sessionId } : "all";
    const about = { by, what: "session end" } as const;
    await endSessionsOf(await store(), about, account.id, named === "others" ? others : { id: named }, nowMs);
    return { to: `${pages.home.path}?ended#ended` };
  },
);
