import { requireOwner } from "@/lib/accounts/owner";
import { actions, pages } from "@/lib/api/pages";
import { form } from "@/lib/pages/form";
import { endSessionsOf } from "@/lib/session/session";
import { store } from "@/lib/store/store";

/** Ends one of the owner's sessions by its id, or "others": all but the browser's own. */
export const POST = form(
  actions.endSession,
  () => pages.home.path,
  async (submission) => {
    const { account, session } = await requireOwner(submission);
    const named = submission.field("session");
    const others = session ? { allBut: session.sessionId } : "all";
    await endSessionsOf(await store(), account.id, named === "others" ? others : { id: named });
    return { to: `${pages.home.path}?ended#sessions` };
  },
);
