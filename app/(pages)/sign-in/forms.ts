import { askForPasskey, signInWithPasskey } from "@/lib/accounts/own-passkeys";
import { type CodeEnd, redeemCode } from "@/lib/auth/codes/sign-in-code";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { requestedCodes, sendCode, signIn, writeSession } from "@/lib/auth/local-sign-in";
import { renewBrowserSession } from "@/lib/auth/sessions/browser-session";
import { parseTypedEmail, whyNotAnEmail } from "@/lib/config/email-address";
import { store } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { cookieHeaders, readCookie } from "@/lib/http/cookies";
import { handleForm, withProblem } from "@/lib/http/form";
import { handleOperation, type RouteHandler } from "@/lib/http/handler";
import { signInForms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { pathAfterSignIn } from "@/lib/oauth/path-after-sign-in";
import { signOut } from "./sign-out";

const [signInPage, codePage] = [pages.signIn.path, pages.code.path];

const startAgain = (problem: CodeEnd | "unasked") => ({ to: withProblem(signInPage, problem) });

/** The steps of our own sign-in. Their register says which methods each accepts. */
export const signInHandlers: Record<keyof typeof signInForms, RouteHandler> = {
  sendCode: handleForm(signInForms.sendCode, {}, async (submission) => {
    const typed = submission.field("email");
    const email = parseTypedEmail(typed);
    return email ? sendCode(email, submission) : { to: withProblem(signInPage, whyNotAnEmail(typed)) };
  }),

  redeemCode: handleForm(signInForms.redeemCode, {}, async (submission) => {
    const [newest, ...earlier] = requestedCodes(submission.headers);
    if (!newest) return startAgain("unasked");
    await requireSigningKey(submission.nowMs); // before the code is used up
    // In one transaction, so that an outage in between does not use the code up.
    const redeemed = await transact(await store(), async (transaction) => {
      const typed = submission.field("code");
      const redeemed = await redeemCode(transaction, [newest, ...earlier], typed, submission.nowMs);
      if ("problem" in redeemed) return redeemed;
      const signedIn = await signIn(transaction, redeemed.email, "code", submission);
      return signedIn ?? ({ problem: "used" } as const);
    });
    if ("to" in redeemed) return { ...redeemed, to: await pathAfterSignIn(submission.headers, redeemed.to) };
    const { problem } = redeemed;
    if (problem === "wrong") return { to: `${withProblem(codePage, problem)}&left=${redeemed.triesLeft}` };
    return problem === "form" ? { to: withProblem(codePage, problem) } : startAgain(problem);
  }),

  /** The first step of sign-in by passkey: the options for `navigator.credentials.get`, with a challenge. */
  askForPasskey: handleOperation(signInForms.askForPasskey, {}, askForPasskey),

  /** The second step of sign-in by passkey: verifies the browser's assertion. Returns where to go: `{to}`. */
  signInWithPasskey: handleOperation(signInForms.signInWithPasskey, {}, async (call) => {
    const { to, cookies = [] } = await signInWithPasskey(call);
    const after = await pathAfterSignIn(call.headers, to);
    return { status: 200, body: { to: after }, headers: cookieHeaders(cookies) };
  }),

  signOut,

  /** For an open page: 204, or 401 at its end. The cookies stay, by which the page that is opened then knows of it. */
  renewSession: handleOperation(signInForms.renewSession, {}, async ({ headers, nowMs }) => {
    const secret = readCookie(headers, "office-client");
    const session = secret ? await renewBrowserSession(await store(), secret, nowMs) : undefined;
    if (!session) return { status: 401, body: null };
    return { status: 204, body: null, headers: cookieHeaders([writeSession(session)]) };
  }),
};
