import { invitationDays } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { actions, pages } from "@/lib/http/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import { EmailForm } from "../email-form";
import { htmlPage } from "../html-page";
import { findProblem, type Problem, titleOf } from "../problem";

export const GET = htmlPage(pages.waitlist, ({ url: { searchParams }, headers }) => {
  const problem = findProblem(Object.fromEntries(searchParams), {
    network: { words: "Too many people joined from your network today. Try again tomorrow." },
    full: { words: "The waitlist is full at the moment. Try again in a few days." },
  });
  if (settings().signIn.kind === "none") return { title: "The waitlist is closed", content: <Closed /> };
  if (searchParams.has("joined")) return { title: "You are on the list", content: <Joined /> };
  return {
    title: titleOf("Join the waitlist", problem),
    content: <Join problem={problem} typed={readTypedEmail(headers)} />,
  };
});

function Join({ problem, typed }: { problem: Problem | undefined; typed: string }) {
  return (
    <div className="narrow">
      <h1>Join the waitlist</h1>
      <p>Corner Office is by invitation only. We will email you once, when your place is ready.</p>
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

function Joined() {
  return (
    <div className="narrow">
      <h1>You are on the list</h1>
      <p role="status">
        When your place is ready, we will email you a link that creates your account. The link works for{" "}
        {invitationDays} days.
      </p>
      <p>
        Until then, read the <a href={pages.quickStart.path}>documents</a> of the API.
      </p>
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
