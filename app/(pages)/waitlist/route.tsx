import { invitationDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { hasSessionCookie } from "@/lib/http/cookies";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import { ButtonLink } from "../button-link";
import { AboutEmail, EmailForm } from "../email-form";
import { narrow } from "../html-page";
import { PostForm } from "../post-form";
import { findProblem, type Problem, ProblemNote } from "../problem";

const problems: Record<string, Problem> = {
  all: { words: "Too many people joined today, from all networks together. Try again tomorrow." },
  network: { words: "Too many people joined from your network today. Try again tomorrow." },
  full: { words: "The waitlist is full at the moment. Try again in a few days." },
  link: { words: "This link does not work any more. Join again, and we send a new one." },
};

export const { GET } = handlePage(pages.waitlist, narrow, ({ url, headers }) => {
  const { searchParams } = url;
  const problem = findProblem(url, problems);
  const [typed, token] = [readTypedEmail(headers), searchParams.get("token")];
  if (settings().signIn.kind === "none") return { title: "The waitlist is closed", content: closed };
  if (searchParams.has("joined")) return { title: "Check your inbox", content: <Joined email={typed} /> };
  if (searchParams.has("confirmed")) return { title: "Your address is confirmed", content: confirmed };
  if (token) {
    const content = <Confirm token={token} problem={problem} />;
    return { title: "Confirm your address", problem, content };
  }
  if (hasSessionCookie(headers)) return { title: "You have a place", content: hasPlace };
  return { title: "Join the waitlist", problem, content: <Join problem={problem} typed={typed} /> };
});

const closed = (
  <>
    <p>Sign-in is not set up in this deployment, so no one can be invited yet.</p>
    <p>
      <a href={pages.front.path}>Back to the front page</a>
    </p>
  </>
);

const whatComes = (
  <p>
    When your place is ready, we will email you a link that creates your account. It works for{" "}
    {invitationDays} days.
  </p>
);

const confirmed = (
  <>
    <p role="status">Your place on the waitlist is kept.</p>
    {whatComes}
  </>
);

const hasPlace = (
  <>
    <p>You are signed in: the waitlist is for others.</p>
    <ButtonLink to={pages.home.path}>Open your home page</ButtonLink>
  </>
);

function Joined({ email }: { email: string }) {
  return (
    <>
      <p role="status">
        To keep your place on the waitlist, open the link that we sent
        {email ? (
          <>
            {" "}
            to <strong>{email}</strong>
          </>
        ) : (
          ""
        )}
        .
      </p>
      {whatComes}
      <p className="quiet">
        Mistyped? <a href={pages.waitlist.path}>Join with another address</a>. Already have an account?{" "}
        <a href={pages.signIn.path}>Sign in</a>
      </p>
      <p className="quiet">
        No email came? Your place may be confirmed already, or have a link from this week.
      </p>
    </>
  );
}

function Confirm({ token, problem }: { token: string; problem: Problem | undefined }) {
  return (
    <>
      <p>You joined the waitlist, or someone typed your address. Confirm only if it was you.</p>
      <PostForm action={forms.confirmWaitlist.path} hidden={{ token }} className="stack">
        <ProblemNote problem={problem} />
        <button type="submit">Confirm my address</button>
      </PostForm>
    </>
  );
}

function Join({ problem, typed }: { problem: Problem | undefined; typed: string }) {
  return (
    <>
      <p>
        Corner Office is by invitation only. We email you twice: now, to confirm the address, and when your
        place is ready.
      </p>
      <EmailForm
        action={forms.joinWaitlist.path}
        button="Join the waitlist"
        problem={problem}
        typed={typed}
      />
      <p className="quiet">
        Already invited? <a href={pages.signIn.path}>Sign in</a>. <AboutEmail />
      </p>
    </>
  );
}
