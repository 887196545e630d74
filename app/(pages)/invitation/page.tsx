import type { Metadata } from "next";
import { headers } from "next/headers";
import { findInvitationProblem, type InvitationProblem, invitationDays } from "@/lib/accounts/invitations";
import { log } from "@/lib/process/log";
import { settings } from "@/lib/settings/settings";
import { store } from "@/lib/store/store";
import { Clerk } from "../clerk";
import { EmailForm } from "../email-form";
import { anyFormsProblems } from "../problem";
import { SiteBanner } from "../site-banner";
import { Support } from "../support";

export const metadata: Metadata = { title: "Your invitation", robots: { index: false } };

export default async function InvitationPage({ searchParams }: PageProps<"/invitation">) {
  await headers();
  const { token, problem } = await searchParams;
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      {settings().signIn.kind === "clerk" ? (
        <>
          <h1>Welcome to Corner Office</h1>
          <Clerk part="sign-up" />
        </>
      ) : (
        <Invitation token={token?.toString() ?? ""} problem={problem?.toString()} />
      )}
    </div>
  );
}

async function Invitation({ token, problem }: { token: string; problem: string | undefined }) {
  const hindrance = await findHindrance(token);
  if (hindrance) return <Hindrance {...hindrances[hindrance]} />;
  return (
    <>
      <h1>You are invited</h1>
      <p>
        Type the email that this invitation was sent to. That opens your account, and we send a code to the
        email so that you can sign in.
      </p>
      <EmailForm
        action="/invitation/accept"
        button="Accept the invitation"
        problem={problem ?? null}
        problems={problems}
        hidden={{ token }}
      />
    </>
  );
}

async function findHindrance(token: string): Promise<InvitationProblem | "unavailable" | undefined> {
  if (settings().signIn.kind !== "local" || !token) return "unknown";
  try {
    return await findInvitationProblem(await store(), token, Date.now());
  } catch (failure) {
    log().error({ err: failure }, "an invitation could not be read");
    return "unavailable";
  }
}

const problems = {
  ...anyFormsProblems,
  "foreign-email": "This invitation was sent to another email. Type the one that it came to.",
};

type HindranceProps = { heading: string; words: string; canSignIn?: true };

const hindrances: Record<InvitationProblem | "unavailable", HindranceProps> = {
  unknown: {
    heading: "This invitation does not work",
    words:
      "The link is not one of ours, or it was replaced by a newer one. Open the link of the latest email, whole.",
  },
  used: {
    heading: "This invitation was accepted",
    words: "It works once. If that was you, your account is open: sign in with the same email.",
    canSignIn: true,
  },
  expired: {
    heading: "This invitation has run out",
    words: `An invitation works for ${invitationDays} days. Ask whoever invited you for a new one.`,
  },
  "foreign-email": { heading: "This invitation is for another email", words: problems["foreign-email"] },
  unavailable: {
    heading: "The invitation cannot be read at the moment",
    words: "This is on our side. Open the link again in a moment; it stays valid.",
  },
};

function Hindrance({ heading, words, canSignIn }: HindranceProps) {
  return (
    <>
      <h1>{heading}</h1>
      <p>{words}</p>
      {canSignIn && (
        <p>
          <a className="button" href="/sign-in">
            Sign in
          </a>
        </p>
      )}
      <Support />
    </>
  );
}
