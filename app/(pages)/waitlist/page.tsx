import type { Metadata } from "next";
import { connection } from "next/server";
import { invitationDays } from "@/lib/accounts/invitations";
import { settings } from "@/lib/settings/settings";
import { EmailForm } from "../email-form";
import { anyFormsProblems } from "../problem";
import { SiteBanner } from "../site-banner";

export const metadata: Metadata = { title: "Join the waitlist" };

export default async function WaitlistPage({ searchParams }: PageProps<"/waitlist">) {
  await connection();
  const { problem, joined } = await searchParams;
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      {settings().signIn.kind === "none" ? (
        <Closed />
      ) : joined === undefined ? (
        <Join problem={problem} />
      ) : (
        <Joined />
      )}
    </div>
  );
}

function Join({ problem }: { problem: string | string[] | undefined }) {
  return (
    <>
      <h1>Join the waitlist</h1>
      <p>
        Corner Office opens by invitation. Leave your email, and we write to it once: when there is a place
        for you.
      </p>
      <EmailForm
        action="/waitlist/join"
        button="Join the waitlist"
        problem={problem?.toString()}
        problems={anyFormsProblems}
      />
      <p className="quiet">
        Invited already? <a href="/sign-in">Sign in</a>
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
        Until then, the <a href="/docs">documents</a> show what your company’s software can ask this service.
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
        <a href="/">Back to the front page</a>
      </p>
    </>
  );
}
