import type { Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { readCookie } from "@/lib/api/cookies";
import { readSession } from "@/lib/session/credential";
import { settings } from "@/lib/settings/settings";
import { Clerk } from "../clerk";
import { EmailForm } from "../email-form";
import { anyFormsProblems } from "../problem";
import { SiteBanner } from "../site-banner";

export const metadata: Metadata = { title: "Sign in" };

export default async function SignInPage({ searchParams }: PageProps<"/sign-in">) {
  const { problem } = await searchParams;
  const { kind } = settings().signIn;
  if (kind === "local" && !problem) await leadHome();
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      {kind === "none" && <NotSetUp />}
      {kind === "local" && <AskForEmail problem={problem?.toString()} />}
      {kind === "clerk" && (
        <>
          <h1>Sign in</h1>
          <Clerk part="sign-in" />
        </>
      )}
    </div>
  );
}

/** Who is signed in already has nothing to do here. */
async function leadHome(): Promise<void> {
  const requestHeaders = await headers();
  const session = await readSession(requestHeaders, Date.now());
  if (!("because" in session)) redirect("/home");
  if (readCookie(requestHeaders, "office-client")) redirect("/sign-in/renew");
}

function AskForEmail({ problem }: { problem: string | undefined }) {
  return (
    <>
      <h1>Sign in</h1>
      <p>We send a six-digit code to your email. There is no password to remember.</p>
      <EmailForm
        action="/sign-in/send"
        button="Send me a code"
        problem={problem ?? null}
        problems={{ ...anyFormsProblems, over: "That code is over. Ask for a new one." }}
      />
      <p className="quiet">
        No account yet? <a href="/waitlist">Join the waitlist</a>
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
        <a href="/">Back to the front page</a>
      </p>
    </>
  );
}
