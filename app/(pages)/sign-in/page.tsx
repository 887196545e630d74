import type { Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { readCookie } from "@/lib/api/cookies";
import { actions, pages } from "@/lib/api/pages";
import { readTypedEmail } from "@/lib/pages/typed-email";
import { readSession } from "@/lib/session/credential";
import { settings } from "@/lib/settings/settings";
import { Clerk } from "../clerk";
import { EmailForm } from "../email-form";
import { findProblem, type Problem, titleOf } from "../problem";
import { SiteBanner } from "../site-banner";

export async function generateMetadata({ searchParams }: PageProps<"/sign-in">): Promise<Metadata> {
  return { title: titleOf("Sign in", findProblem(await searchParams, problems)) };
}

export default async function SignInPage({ searchParams }: PageProps<"/sign-in">) {
  const query = await searchParams;
  const { kind } = settings().signIn;
  const problem = findProblem(query, problems);
  if (kind === "local" && !problem) await leadHome();
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      {kind === "none" && <NotSetUp />}
      {kind === "local" && <AskForEmail problem={problem} typed={readTypedEmail(await headers())} />}
      {kind === "clerk" && (
        <>
          <h1>Sign in</h1>
          <Clerk part="sign-in" />
        </>
      )}
    </div>
  );
}

const problems: Record<string, Problem> = {
  over: { words: "That code is over. Ask for a new one." },
  ended: { words: "You were signed in here, and that session has ended. Sign in to go on." },
  cookies: {
    words:
      "Your browser does not keep our cookies, or it keeps those of another site beside them. Allow cookies here, or delete this site’s, and sign in.",
  },
};

/** Who is signed in already has nothing to do here; nor has who may be, while nobody can tell. */
async function leadHome(): Promise<void> {
  const requestHeaders = await headers();
  const session = await readSession(requestHeaders, undefined, Date.now()).catch(() => undefined);
  if (!session || !("because" in session)) redirect(pages.home.path);
  if (readCookie(requestHeaders, "office-client")) redirect(actions.renewSession.path);
}

function AskForEmail({ problem, typed }: { problem: Problem | undefined; typed: string }) {
  return (
    <>
      <h1>Sign in</h1>
      <p>We send a six-digit code to your email. There is no password to remember.</p>
      <EmailForm
        action={actions.sendCode.path}
        button="Send me a code"
        problem={problem}
        typed={typed}
        takesFocus
      />
      <p className="quiet">
        No account yet? <a href={pages.waitlist.path}>Join the waitlist</a>
      </p>
    </>
  );
}

function NotSetUp() {
  return (
    <>
      <h1>Sign-in is not set up</h1>
      <p>
        This deployment runs without sign-in: its health and its notice can be read, and the links in its
        emails work. Whoever operates it sets up Clerk, or local sign-in, in its settings.
      </p>
      <p>
        <a href={pages.front.path}>Back to the front page</a>
      </p>
    </>
  );
}
