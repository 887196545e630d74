import { parseEmailAddress } from "@/lib/accounts/email-address";
import { acceptInvitation } from "@/lib/accounts/invitations";
import { actions, pages } from "@/lib/api/pages";
import { form, type Submission, withProblem } from "@/lib/pages/form";
import { mintLocalSubject } from "@/lib/session/session";
import { sendCode } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

const page = (field: Submission["field"]) =>
  `${pages.invitation.path}?token=${encodeURIComponent(field("token"))}`;

/** Accepts an invitation, and goes on to sign in: the code proves that the mailbox is theirs. */
export const POST = form(actions.acceptInvitation, page, async (submission) => {
  const { field, nowMs } = submission;
  const email = parseEmailAddress(field("email"));
  if (!email) return { to: withProblem(page(field), "email") };
  const db = await store();
  const credential = { token: field("token"), email, subject: mintLocalSubject() };
  const accepted = await acceptInvitation(db, credential, nowMs);
  if (accepted === "foreign-email") return { to: withProblem(page(field), accepted) };
  // The page itself says what is wrong with the link.
  if (typeof accepted === "string") return { to: page(field) };
  const onward = await sendCode(email, submission);
  return { ...onward, to: `${onward.to}?opened` };
});
