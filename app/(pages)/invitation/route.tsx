import { readInvitedDays } from "@/lib/accounts/joining/invitations";
import { renewingSession } from "@/lib/auth/sessions/session-renewal";
import { invitationDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { readTypedEmail } from "@/lib/http/typed-email";
import {
  findInvitationProblem,
  type InvitationProblem,
  isMailedProof,
} from "@/lib/mail/links/invitation-token";
import { pathAfterSignIn } from "@/lib/oauth/path-after-sign-in";
import { ButtonLink } from "../button-link";
import { Clerk } from "../clerk";
import { AboutEmail, EmailForm } from "../email-form";
import { narrow } from "../html-page";
import { findProblem, type Problem } from "../problem";
import { readPart } from "../read-part";
import { TryAgain } from "../try-again";

/** The page of a link that invites: with our form, or with Clerk's component for the ticket that its link has. */
export const { GET } = handlePage(
  pages.invitation,
  narrow,
  renewingSession(async ({ url, headers, nowMs, requestId }) => {
    if (settings().signIn.kind === "clerk") {
      const content = <Clerk part="SignUp" leadsTo={await pathAfterSignIn(headers)} />;
      return { title: "Welcome to Corner Office", content };
    }
    const [token = "", proof = ""] = ["token", "proof"].map((name) => url.searchParams.get(name) ?? "");
    const { problem: found, days } = await readInvitation(token, nowMs, requestId);
    if (found) {
      const { title, words, canSignIn } = hindrances[found];
      const content = (
        <>
          <p>{words}</p>
          {found === "unavailable" && <TryAgain at={url.pathname + url.search} failed={requestId} />}
          {canSignIn && <ButtonLink to={pages.signIn.path}>Sign in</ButtonLink>}
        </>
      );
      return { title, content };
    }
    const problem = findProblem(url, problems);
    const typed = readTypedEmail(headers);
    const content = <Accept {...{ token, proof, days, problem, typed }} />;
    return { title: "You are invited", problem, content };
  }),
);

type AcceptProps = {
  token: string;
  proof: string;
  /** The days of the trial. */
  days: number | undefined;
  problem: Problem | undefined;
  typed: string;
};

function Accept({ token, proof, days, problem, typed }: AcceptProps) {
  const isMailed = isMailedProof(proof, token);
  return (
    <>
      {days !== undefined && (
        <p>
          <strong>{`${days} ${days === 1 ? "day" : "days"} free, no card.`}</strong>
        </p>
      )}
      <p>
        Enter the email that this invitation was sent to: it works for no other. This creates your account
        {isMailed ? " and signs you in." : ", and we send a sign-in code to that email."}
      </p>
      <EmailForm
        action={forms.acceptInvitation.path}
        button="Accept the invitation"
        problem={problem}
        typed={typed}
        hidden={isMailed ? { token, proof } : { token }}
      />
      <p className="quiet">
        <AboutEmail />
      </p>
    </>
  );
}

type Read = { problem: keyof typeof hindrances | undefined; days?: number | undefined };

/** Why the invitation of a link cannot be accepted, if so, and the days of the trial that it gives. */
async function readInvitation(token: string, nowMs: number, requestId: string): Promise<Read> {
  if (settings().signIn.kind !== "local" || !token) return { problem: "unknown" };
  const read = await readPart(
    "an invitation could not be read",
    async (db): Promise<Read> => ({
      problem: await findInvitationProblem(db, token, nowMs),
      days: await readInvitedDays(db, token),
    }),
    requestId,
  );
  return read ?? { problem: "unavailable" };
}

const problems: Record<string, Problem> = {
  "foreign-email": {
    words: "This invitation was sent to another email. Enter that email.",
    isTyped: true,
  },
};

type Hindrance = { title: string; words: string; canSignIn?: true };

const hindrances: Record<InvitationProblem | "unavailable", Hindrance> = {
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
  unavailable: {
    title: "We cannot read the invitation at the moment",
    words: "This is on our side, and your invitation stays valid. This page tries again automatically.",
  },
};
