import { renewingAtClerk } from "@/lib/auth/clerk-renewal";
import { findInvitationProblem, type InvitationProblem, isMailedProof } from "@/lib/auth/invitation-token";
import { invitationDays } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { actions, pages } from "@/lib/http/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import { pathAfterSignIn } from "@/lib/oauth/approval";
import { log } from "@/lib/runtime/log";
import { Clerk } from "../clerk";
import { AboutEmail, EmailForm } from "../email-form";
import { htmlPage } from "../html-page";
import { findProblem, type Problem, titleOf } from "../problem";
import { Support } from "../support";
import { TryAgain } from "../try-again";

/** The page of a link that invites: with our form, or with Clerk's component. */
export const GET = htmlPage(
  pages.invitation,
  renewingAtClerk(async ({ url, headers, nowMs }) => {
    if (settings().signIn.kind === "clerk")
      return { title: "Your invitation", content: <AtClerk leadsTo={await pathAfterSignIn(headers)} /> };
    const [token = "", proof = ""] = ["token", "proof"].map((name) => url.searchParams.get(name) ?? "");
    const problem = findProblem(Object.fromEntries(url.searchParams), problems);
    const hindrance = await findHindrance(token, nowMs);
    const again =
      hindrance === "unavailable" &&
      `${pages.invitation.path}?${new URLSearchParams({ token, ...(proof && { proof }) })}`;
    return {
      title: titleOf("Your invitation", problem),
      content: (
        <div className="narrow">
          {hindrance ? (
            <Hindrance {...hindrances[hindrance]} again={again} />
          ) : (
            <Accept token={token} proof={proof} problem={problem} typed={readTypedEmail(headers)} />
          )}
        </div>
      ),
    };
  }),
);

/** Accepts the invitation whose ticket Clerk's link put into the address. */
function AtClerk({ leadsTo }: { leadsTo: string }) {
  return (
    <div className="narrow">
      <h1>Welcome to Corner Office</h1>
      <Clerk part="SignUp" leadsTo={leadsTo} />
      <p className="quiet">
        <AboutEmail />
      </p>
    </div>
  );
}

type AcceptProps = { token: string; proof: string; problem: Problem | undefined; typed: string };

function Accept({ token, proof, problem, typed }: AcceptProps) {
  const isMailed = isMailedProof(proof, token);
  return (
    <>
      <h1>You are invited</h1>
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

type HindranceProps = { heading: string; words: string; canSignIn?: true };
type Again = { again: string | false };

const hindrances: Record<InvitationProblem | "unavailable", HindranceProps> = {
  unknown: {
    heading: "This invitation does not work",
    words: "The link is not valid, or a newer one replaced it. Open the complete link of the latest email.",
  },
  used: {
    heading: "This invitation was already accepted",
    words: "An invitation works once. If you accepted it, sign in with the same email.",
    canSignIn: true,
  },
  expired: {
    heading: "This invitation has expired",
    words: `An invitation works for ${invitationDays} days. Ask the person who invited you for a new one.`,
  },
  "foreign-email": { heading: "This invitation is for another email", words: foreignEmail },
  unavailable: {
    heading: "We cannot read the invitation at the moment",
    words: "This is on our side, and your invitation stays valid. This page tries again automatically.",
  },
};

function Hindrance({ heading, words, canSignIn, again }: HindranceProps & Again) {
  return (
    <>
      <h1>{heading}</h1>
      <p>{words}</p>
      {again && <TryAgain at={again} />}
      {canSignIn && (
        <p>
          <a className="button" href={pages.signIn.path}>
            Sign in
          </a>
        </p>
      )}
      <Support />
    </>
  );
}
