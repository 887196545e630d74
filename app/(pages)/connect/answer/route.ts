import { rejectImpersonator, requireOwner } from "@/lib/accounts/owner";
import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import {
  approve,
  decline,
  findOutcome,
  findRequestingClient,
  readAuthorizationRequest,
} from "@/lib/oauth/approval";

const page = pages.connect.path;

/**
 * Takes the owner's answer to the request that the page showed, which must be this browser's, for the account that the
 * page named. It redirects to one of our pages, which leads to the app: browsers apply the form page's CSP
 * `form-action` to every redirect after the form, and the app's address is not ours.
 */
export const POST = form(
  actions.answerApp,
  () => page,
  async (submission) => {
    const { field, cookie, nowMs } = submission;
    const answer = field("answer");
    if (answer === "sign-in") return { to: pages.signIn.path };
    const cookieValue = cookie("office-request");
    const authorizationRequest =
      field("request") === cookieValue ? readAuthorizationRequest(cookieValue) : undefined;
    if (!authorizationRequest) return { to: page };
    const client = await findRequestingClient(authorizationRequest);
    if (client && ["approve", "decline"].includes(answer)) {
      const owner = await requireOwner(submission, field("account")).catch(unlessSignedOut);
      if (!owner) return { to: `${withProblem(page, "again")}&away` };
      if (answer === "approve") await rejectImpersonator(owner, "app approve refused", nowMs);
      const db = await store();
      if (answer === "approve") {
        await approve(db, authorizationRequest, client, owner, submission.headers, nowMs);
      } else await decline(db, authorizationRequest, client, owner, nowMs);
    }
    const outcome = await findOutcome(authorizationRequest);
    return { to: outcome ? `${page}?answered=${authorizationRequest.by}&outcome=${outcome}` : page };
  },
);

/**
 * Handles an expired session: the page that follows has Clerk renew it, or leads to sign-in. A page in between is needed
 * for the same reason as above.
 */
function unlessSignedOut(failure: unknown): undefined {
  if (!(failure instanceof ApiError && failure.status === 401)) throw failure;
}
