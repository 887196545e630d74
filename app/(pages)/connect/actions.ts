import { rejectImpersonator, requireOwner } from "@/lib/accounts/require-owner";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { store } from "@/lib/db/store";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import {
  approve,
  decline,
  findOutcome,
  findRequestingClient,
  readAuthorizationRequest,
  startDeviceApproval,
} from "@/lib/oauth/approval";

const page = pages.connect.path;

/** What the page of connecting sends. */
export const connectHandlers = {
  /**
   * Takes the owner's answer to the request that the page showed, which must be this browser's, for the account that the
   * page named. It redirects to one of our pages, which leads to the app: browsers apply the form page's CSP
   * `form-action` to every redirect after the form, and the app's address is not ours.
   */
  answerApp: form(actions.answerApp, async (submission) => {
    const { field, headers, nowMs } = submission;
    const answer = field("answer");
    if (answer === "sign-in") return { to: pages.signIn.path };
    const cookieValue = readCookie(headers, "office-request");
    const authorizationRequest =
      field("request") === cookieValue ? readAuthorizationRequest(cookieValue) : undefined;
    if (!authorizationRequest) return { to: page };
    const client = await findRequestingClient(authorizationRequest);
    if (client && ["approve", "decline"].includes(answer)) {
      const owner = await requireOwner(submission, field("account")).catch(unlessSignedOut);
      if (!owner) return { to: `${withProblem(page, "again")}&away` };
      const db = await store();
      if (answer === "approve") {
        await rejectImpersonator(owner, "app approve refused", nowMs);
        await approve(db, authorizationRequest, client, owner, headers, nowMs);
      } else await decline(db, authorizationRequest, client, owner, nowMs);
    }
    const outcome = await findOutcome(authorizationRequest);
    return { to: outcome ? `${page}?answered=${authorizationRequest.by}&outcome=${outcome}` : page };
  }),

  /**
   * Takes the code that a person reads off a device and types. A link cannot do that: it only leads to the page with the
   * code field, where nothing can be approved. There are 20^8 codes, and each lives for ten minutes: the thirty guesses of
   * the limit of forms find a given code with a probability of 1 in 850 million (RFC 8628 §5.1).
   */
  findDevice: form(actions.findDevice, async ({ field }) => {
    const cookieValue = await startDeviceApproval(field("user_code"));
    if (!cookieValue) return { to: withProblem(page, "code") };
    return {
      to: page,
      cookies: [writeCookie("office-request", cookieValue, oauthSeconds.deviceCode)],
    };
  }),
};

/** An expired session needs a page in between for the same reason: there Clerk renews it, or one signs in. */
function unlessSignedOut(failure: unknown): undefined {
  if (!(failure instanceof ApiError && failure.status === 401)) throw failure;
}
