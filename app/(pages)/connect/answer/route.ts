import { requireOwner, requireThemselves } from "@/lib/accounts/owner";
import { ApiError } from "@/lib/api/errors";
import { actions, pages } from "@/lib/api/pages";
import { approve, decline, findAsking, isAnswered, readAsk } from "@/lib/connect/approval";
import { form, withProblem } from "@/lib/pages/form";
import { store } from "@/lib/store/store";

const page = pages.connect.path;

/**
 * Takes the owner's word on what the page showed: what waits in this very browser, for the account that it named. The
 * browser goes on from a page of its own: browsers hold every redirect after a form to the page's policy (CSP
 * `form-action`), and an app's address is not ours.
 */
export const POST = form(
  actions.answerApp,
  () => page,
  async (submission) => {
    const { field, cookie, nowMs } = submission;
    const answer = field("answer");
    if (answer === "sign-in") return { to: pages.signIn.path };
    const held = cookie("office-request");
    const ask = field("request") === held ? readAsk(held) : undefined;
    if (!ask) return { to: page };
    const asking = await findAsking(ask);
    if (asking && ["approve", "decline"].includes(answer)) {
      const owner = await requireOwner(submission, field("account")).catch(unlessSignedOut);
      if (!owner) return { to: `${withProblem(page, "again")}&away` };
      if (answer === "approve") await requireThemselves(owner, "app approve refused", nowMs);
      await (answer === "approve" ? approve : decline)(await store(), ask, asking, owner, nowMs);
    }
    return { to: (await isAnswered(ask)) ? `${page}?answered=${ask.by}` : page };
  },
);

/**
 * The page has Clerk renew a session that has run out meanwhile, or leads to sign in. It goes there from a page of its
 * own, for the same reason.
 */
function unlessSignedOut(failure: unknown): undefined {
  if (!(failure instanceof ApiError && failure.status === 401)) throw failure;
}
