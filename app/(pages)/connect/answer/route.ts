import { rejectImpersonator, requireOwner } from "@/lib/accounts/owner";
import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import {
  approve,
  decline,
  findRequestingClient,
  isSettled,
  readAuthorizationRequest,
} from "@/lib/oauth/approval";

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
    const authorizationRequest = field("request") === held ? readAuthorizationRequest(held) : undefined;
    if (!authorizationRequest) return { to: page };
    const client = await findRequestingClient(authorizationRequest);
    if (client && ["approve", "decline"].includes(answer)) {
      const owner = await requireOwner(submission, field("account")).catch(unlessSignedOut);
      if (!owner) return { to: `${withProblem(page, "again")}&away` };
      if (answer === "approve") await rejectImpersonator(owner, "app approve refused", nowMs);
      await (answer === "approve" ? approve : decline)(
        await store(),
        authorizationRequest,
        client,
        owner,
        nowMs,
      );
    }
    return {
      to: (await isSettled(authorizationRequest)) ? `${page}?answered=${authorizationRequest.by}` : page,
    };
  },
);

/**
 * The page has Clerk renew a session that has run out meanwhile, or leads to sign in. It goes there from a page of its
 * own, for the same reason.
 */
function unlessSignedOut(failure: unknown): undefined {
  if (!(failure instanceof ApiError && failure.status === 401)) throw failure;
}
