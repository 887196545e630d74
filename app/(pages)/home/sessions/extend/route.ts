import { rejectImpersonator, requireOwner } from "@/lib/accounts/owner";
import { store } from "@/lib/db/store";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import { giveAnotherWeek } from "@/lib/oauth/another-week";

/** Gives an app another week. Only its owner in the browser can: a token never extends itself. */
export const POST = form(
  actions.extendApp,
  () => pages.home.path,
  async (submission) => {
    const owner = await requireOwner(submission, submission.field("account"));
    await rejectImpersonator(owner, "app extend refused", submission.nowMs);
    const session = submission.field("session");
    const isExtended = await giveAnotherWeek(await store(), owner.account, session, submission.nowMs);
    const { path } = pages.home;
    return { to: isExtended ? `${path}?extended#sessions` : withProblem(path, "app-ended") };
  },
);
