import { hasSessionCookie } from "@/lib/auth/session-hint";
import { invitationDays } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { actions, pages } from "@/lib/http/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import { EmailForm } from "../email-form";
import { htmlPage } from "../html-page";
import { findProblem, type Problem, ProblemNote, titleOf } from "../problem";
import { WayHome } from "../way-home";

const problems: Record<string, Problem> = {
  network: { words: "Too many people joined from your network today. Try again tomorrow." },
  full: { words: "The waitlist is full at the moment. Try again in a few days." },
  link: { words: "This link does not work any more. Join again, and we send a new one." },
};

export const GET = htmlPage(pages.waitlist, ({ url: { searchParams }, headers }) => {
  const problem = findProblem(Object.fromEntries(searchParams), problems);
  const [typed, token] = [readTypedEmail(headers), searchParams.get("token")];
  if (settings().signIn.kind === "none") return { title: "The waitlist is closed", content: <Closed /> };
  if (searchParams.has("joined")) return { title: "You are on the list", content: <Joined email={typed} /> };
  if (searchParams.has("confirmed")) return { title: "Your address is confirmed", content: <Confirmed /> };
  if (token) {
    const title = titleOf("Confirm your address", problem);
    return { title, content: <Confirm token={token} problem={problem} /> };
  }
  if (hasSessionCookie(headers)) return { title: "You have a place", content: <HasPlace /> };
  return {
    title: titleOf("Join the waitlist", problem),
    content: <Join problem={problem} typed={typed} />,
  };
});

function Join({ problem, typed }: { problem: Problem | undefined; typed: string }) {
  return (
    <div className="narrow">
      <h1>Join the waitlist</h1>
      <p>
        Corner Office is by invitation only. We email you twice: now, to confirm the address, and when your
        place is ready.
      </p>
      <EmailForm
        action={actions.joinWaitlist.path}
        button="Join the waitlist"
        problem={problem}
        typed={typed}
        takesFocus
      />
      <p className="quiet">
        Already invited? <a href={pages.signIn.path}>Sign in</a>
      </p>
    </div>
  );
}

function Joined({ email }: { email: string }) {
  return (
    <div className="narrow">
      <h1>You are on the list</h1>
      <p role="status">
        We wrote down {email ? <strong>{email}</strong> : "your address"}. A link that confirms it is on its
        way there, unless it was confirmed before or got a link this week.
      </p>
      <WhatComes />
      <p className="quiet">
        Mistyped? <a href={pages.waitlist.path}>Join with another address</a>. Already have an account?{" "}
        <a href={pages.signIn.path}>Sign in</a>
      </p>
    </div>
  );
}

function HasPlace() {
  return (
    <div className="narrow">
      <h1>You have a place</h1>
      <p>You are signed in: the waitlist is for others.</p>
      <WayHome />
    </div>
  );
}

function WhatComes() {
  return (
    <p>
      When your place is ready, we will email you a link that creates your account. It works for{" "}
      {invitationDays} days.
    </p>
  );
}

function Confirm({ token, problem }: { token: string; problem: Problem | undefined }) {
  return (
    <div className="narrow">
      <h1>Confirm your address</h1>
      <p>You joined the waitlist, or someone typed your address. Confirm only if it was you.</p>
      <form method="post" action={actions.confirmWaitlist.path} className="stack">
        <ProblemNote problem={problem} />
        <input type="hidden" name="token" value={token} />
        <button type="submit">It was me: keep my place</button>
      </form>
    </div>
  );
}

function Confirmed() {
  return (
    <div className="narrow">
      <h1>Your address is confirmed</h1>
      <p role="status">Your place on the waitlist is kept.</p>
      <WhatComes />
    </div>
  );
}

function Closed() {
  return (
    <div className="narrow">
      <h1>The waitlist is closed</h1>
      <p>Sign-in is not set up in this deployment, so no one can be invited yet.</p>
      <p>
        <a href={pages.front.path}>Back to the front page</a>
      </p>
    </div>
  );
}
