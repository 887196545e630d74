import { renewingSession } from "@/lib/auth/sessions/session-renewal";
import { readPageCredential } from "@/lib/auth/tokens/credential";
import { settings } from "@/lib/config/settings";
import { askedPage } from "@/lib/http/asked-page";
import { redirectTo } from "@/lib/http/form";
import { isAccountGone } from "@/lib/http/known-browser";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import { pathAfterSignIn } from "@/lib/oauth/path-after-sign-in";
import { Clerk } from "../clerk";
import { AboutEmail, EmailForm } from "../email-form";
import { narrow } from "../html-page";
import { PasskeyButton } from "../passkey-button";
import { findProblem, type Problem } from "../problem";
import { problems } from "./problems";

/** The page of sign-in, and of a deployment without it. */
export const { GET } = handlePage(
  pages.signIn,
  narrow,
  renewingSession(async (call, isAway) => {
    const { url, headers } = call;
    const { kind } = settings().signIn;
    if (kind === "none") return { title: "Sign-in is not set up", content: notSetUp };
    const title = "Sign in";
    if (kind === "clerk") {
      const leadsTo = await pathAfterSignIn(headers, askedPage(headers));
      return { title, content: <Clerk part="SignIn" leadsTo={leadsTo} /> };
    }
    const asked = findProblem(url, problems);
    const isGone = asked === problems.ended && (await isAccountGone(headers));
    const problem = isGone ? problems.gone : asked;
    const mayBeSignedIn = !problem || problem === problems.used || problem === problems.unasked;
    const session = mayBeSignedIn && !isAway && (await call.once(readPageCredential));
    if (mayBeSignedIn && (!session || !("is" in session)))
      return redirectTo({ to: await pathAfterSignIn(headers) });
    return { title, problem, content: <RequestCode problem={problem} typed={readTypedEmail(headers)} /> };
  }),
);

const notSetUp = (
  <>
    <p>
      This deployment runs without sign-in. Its operator can set up Clerk or local sign-in in the settings.
    </p>
    <p>
      <a href={pages.front.path}>Back to the front page</a>
    </p>
  </>
);

function RequestCode({ problem, typed }: { problem: Problem | undefined; typed: string }) {
  return (
    <>
      {!problem && <p>We email you a code of six digits. There is no password to remember.</p>}
      <EmailForm
        action={forms.sendCode.path}
        button="Send me a code"
        problem={problem}
        typed={typed}
        takesPasskey
      />
      <PasskeyButton id="passkey" words="Sign in with a passkey" isAlternative />
      <p className="quiet">
        No account yet? <a href={pages.waitlist.path}>Join the waitlist</a>. <AboutEmail />
      </p>
    </>
  );
}
