import { invitationDays } from "@/lib/auth/invitation-token";
import { settings } from "@/lib/config/settings";
import { actions, pages } from "@/lib/http/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import { EmailForm } from "../email-form";
import { htmlPage } from "../html-page";
import { findProblem, type Problem, titleOf } from "../problem";

export const GET = htmlPage(pages.waitlist, ({ url: { searchParams }, headers }) => {
  const problem = findProblem(Object.fromEntries(searchParams), {
    network: { words: "Many have joined from your network today. Try again tomorrow." },
    full: { words: "The waitlist is full just now. Try again in a few days." },
  });
  return {
    title: titleOf("Join the waitlist", problem),
    content: (
      <div className="narrow">
        {settings().signIn.kind === "none" ? (
          <Closed />
        ) : searchParams.has("joined") ? (
          <Joined />
        ) : (
          <Join problem={problem} typed={readTypedEmail(headers)} />
        )}
      </div>
    ),
  };
});

function Join({ problem, typed }: { problem: Problem | undefined; typed: string }) {
  return (
    <>
      <h1>Join the waitlist</h1>
      <p>
        Corner Office opens by invitation. Leave your email, and we write to it once: when there is a place
        for you.
      </p>
      <EmailForm
        action={actions.joinWaitlist.path}
        button="Join the waitlist"
        problem={problem}
        typed={typed}
        takesFocus
      />
      <p className="quiet">
        Invited already? <a href={pages.signIn.path}>Sign in</a>
      </p>
    </>
  );
}

function Joined() {
  return (
    <>
      <h1>You are on the list</h1>
      <p role="status">
        There is nothing more to do. When there is a place for you, an email brings a link that opens your
        account; it works for {invitationDays} days.
      </p>
      <p>
        Until then, the <a href={pages.quickStart.path}>documents</a> show what your company’s software can
        ask this service.
      </p>
    </>
  );
}

function Closed() {
  return (
    <>
      <h1>The waitlist is closed</h1>
      <p>Sign-in is not set up in this deployment, so nobody can be invited to it yet.</p>
      <p>
        <a href={pages.front.path}>Back to the front page</a>
      </p>
    </>
  );
}
