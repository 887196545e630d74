import { findInvitationProblem, type InvitationProblem, isMailedProof } from "@/lib/auth/invitation-token";
import { renewingSession } from "@/lib/auth/session-renewal";
import { invitationDays } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { actions, pages } from "@/lib/http/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import { pathAfterSignIn } from "@/lib/oauth/approval";
import { log } from "@/lib/runtime/log";
import { ButtonLink } from "../button-link";
import { Clerk } from "../clerk";
import { EmailForm } from "../email-form";
import { narrowPage } from "../html-page";
import { findProblem, type Problem } from "../problem";
import { TryAgain } from "../try-again";

/** The page of a link that invites: with our form, or with Clerk's component for the ticket that its link has. */
export const GET = narrowPage(
  pages.invitation,
  renewingSession(async ({ url, headers, nowMs }) => {
    if (settings().signIn.kind === "clerk") {
      const content = <Clerk part="SignUp" leadsTo={await pathAfterSignIn(headers)} />;
      return { title: "Welcome to Corner Office", content };
    }
    const [token = "", proof = ""] = ["token", "proof"].map((name) => url.searchParams.get(name) ?? "");
    const found = await findHindrance(token, nowMs);
    if (found) {
      const again = found === "unavailable" && url.pathname + url.search;
      const { title, ...hindrance } = hindrances[found];
      return { title, content: <Hindrance {...hindrance} again={again} /> };
    }
    const problem = findProblem(url, problems);
    const typed = readTypedEmail(headers);
    const content = <Accept token={token} proof={proof} problem={problem} typed={typed} />;
    return { title: "You are invited", problem, content };
  }),
);

type AcceptProps = { token: string; proof: string; problem: Problem | undefined; typed: string };

function Accept({ token, proof, problem, typed }: AcceptProps) {
  const isMailed = isMailedProof(proof, token);
  return (
    <>
      <p>
        Enter the email that this invitation was sent to. This creates your account
        {isMailed ? " and signs you in." : ", and we send a sign-in code to that email."}
      </p>
      <EmailForm
        action={actions.acceptInvitation.path}
        button="Accept the invitation"
        problem={problem}
        typed={typed}
        hidden={isMailed ? { token, proof } : { token }}
        takesFocus
      />
    </>
  );
}

async function findHindrance(
  token: string,
  nowMs: number,
): Promise<InvitationProblem | "unavailable" | undefined> {
  if (settings().signIn.kind !== "local" || !token) return "unknown";
  try {
    return await findInvitationProblem(await store(), token, nowMs);
  } catch (failure) {
    log().error({ err: failure }, "an invitation could not be read");
    return "unavailable";
  }
}

const foreignEmail = "This invitation was sent to another email. Enter that email.";

const problems: Record<string, Problem> = { "foreign-email": { words: foreignEmail, isTyped: true } };

type HindranceProps = { words: string; canSignIn?: true };

const hindrances: Record<InvitationProblem | "unavailable", HindranceProps & { title: string }> = {
  unknown: {
    title: "This invitation does not work",
    words: "The link is not valid, or a newer one replaced it. Open the complete link of the latest email.",
  },
  used: {
    title: "This invitation was already accepted",
    words: "An invitation works once. If you accepted it, sign in with the same email.",
    canSignIn: true,
  },
  expired: {
    title: "This invitation has expired",
    words: `An invitation works for ${invitationDays} days. Ask the person who invited you for a new one.`,
  },
  "foreign-email": { title: "This invitation is for another email", words: foreignEmail },
  unavailable: {
    title: "We cannot read the invitation at the moment",
    words: "This is on our side, and your invitation stays valid. This page tries again automatically.",
  },
};

function Hindrance({ words, canSignIn, again }: HindranceProps & { again: string | false }) {
  return (
    <>
      <p>{words}</p>
      {again && <TryAgain at={again} />}
      {canSignIn && <ButtonLink to={pages.signIn.path}>Sign in</ButtonLink>}
    </>
  );
}
