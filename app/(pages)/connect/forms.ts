import { rejectImpersonator, requireOwner } from "@/lib/accounts/require-owner";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { handleForm, withProblem } from "@/lib/http/form";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import {
  approve,
  decline,
  findOutcome,
  findRequestingClient,
  readAuthorizationRequest,
  startDeviceApproval,
} from "@/lib/oauth/approval";
import { keepRequest, listRequests, pageOfAnswer, pageOfRequest } from "@/lib/oauth/browser-requests";
import { endOwnSessions } from "../sign-in/sign-out";

const page = pages.connect.path;

/** What the page of connecting sends. */
export const connectHandlers = {
  /**
   * Takes the owner's answer to the request that the page showed, which must be this browser's, for the account that the
   * page named. Who is not its owner leaves it, and signs in to their own. It redirects to one of our pages, which leads to
   * the app: browsers apply the form page's CSP `form-action` to every redirect after the form, and the app's address is not ours.
   */
  answerApp: handleForm(forms.answerApp, { page: pageShown }, async (submission) => {
    const { field, headers, nowMs } = submission;
    const answer = field("answer");
    const name = findShown(submission);
    const authorizationRequest = name && readAuthorizationRequest(name);
    if (!authorizationRequest) return { to: answer === "sign-in" ? pages.signIn.path : page };
    if (answer === "sign-in") return { to: pages.signIn.path, cookies: [keepRequest(headers, name)] };
    if (answer === "leave" && settings().signIn.kind === "local") {
      const cookies = [...(await endOwnSessions(submission)), keepRequest(headers, name)];
      return { to: pages.signIn.path, cookies };
    }
    const client = await findRequestingClient(authorizationRequest);
    let subject: string | undefined;
    if (["approve", "decline"].includes(answer)) {
      const owner = await requireOwner(submission, field("account")).catch(unlessSignedOut);
      const signIn = { to: `${withProblem(pageOfRequest(name), "again")}&away` };
      if (!owner) return signIn;
      subject = owner.account.subject;
      const db = await store();
      // Its page reads what the client publishes, or says what is wrong.
      if (client && !client.mayAnswer) return { to: pageOfRequest(name) };
      if (client && answer === "approve") {
        await rejectImpersonator(owner, "app approve refused", nowMs);
        if (!(await approve(db, authorizationRequest, client, owner, submission))) return signIn;
      } else if (client) await decline(db, authorizationRequest, client, owner, nowMs);
    }
    const outcome = await findOutcome(authorizationRequest, subject);
    return { to: outcome ? pageOfAnswer(name, authorizationRequest.by, outcome) : pageOfRequest(name) };
  }),

  /**
   * Takes the code that a person reads off a device and types. A link cannot do that: it only leads to the page with the
   * code field, where nothing can be approved. There are 20^8 codes, and each lives for ten minutes: the thirty guesses of
   * the limit of forms find a given code with a probability of 1 in 850 million (RFC 8628 §5.1).
   */
  findDevice: handleForm(forms.findDevice, {}, async ({ field, headers }) => {
    const name = await startDeviceApproval(field("user_code"), listRequests(headers));
    if (!name) return { to: withProblem(page, "code") };
    return { to: pageOfRequest(name), cookies: [keepRequest(headers, name)] };
  }),
};

/** The request that the page showed, if it was begun in this browser. */
function findShown({ field, headers }: Call): string | undefined {
  return listRequests(headers).find((name) => name === field("request"));
}

function pageShown(call: Call): string {
  const name = findShown(call);
  return name ? pageOfRequest(name) : page;
}

/** An expired session needs a page in between for the same reason: there Clerk renews it, or one signs in. */
function unlessSignedOut(failure: unknown): undefined {
  if (!(failure instanceof ApiError && failure.status === 401)) throw failure;
}
