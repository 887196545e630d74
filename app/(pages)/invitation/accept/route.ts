import { parseEmailAddress } from "@/lib/accounts/email-address";
import { acceptInvitation } from "@/lib/accounts/invitations";
import { sendCode } from "@/lib/auth/local-sign-in";
import { mintLocalSubject } from "@/lib/auth/session";
import { store } from "@/lib/db/store";
import { type FormSubmission, form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

const page = (field: FormSubmission["field"]) =>
  `${pages.invitation.path}?token=${encodeURIComponent(field("token"))}`;

/** Accepts an invitation and redirects to sign-in, where a code proves that the person owns the mailbox. */
export const POST = form(actions.acceptInvitation, page, async (submission) => {
  const { field, nowMs } = submission;
  const email = parseEmailAddress(field("email"));
  if (!email) return { to: withProblem(page(field), "email") };
  const db = await store();
  const credential = { token: field("token"), email, subject: mintLocalSubject() };
  const accepted = await acceptInvitation(db, credential, nowMs);
  if (accepted === "foreign-email") return { to: withProblem(page(field), accepted) };
  // The page explains what is wrong with the link.
  if (typeof accepted === "string") return { to: page(field) };
  const redirect = await sendCode(email, submission);
  return { ...redirect, to: `${redirect.to}?opened` };
});
