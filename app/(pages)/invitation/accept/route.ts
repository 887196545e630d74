import { acceptInvitation } from "@/lib/accounts/joining/invitations";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { sendCode, signIn } from "@/lib/auth/local-sign-in";
import { mintLocalSubject } from "@/lib/auth/sessions/session";
import { parseTypedEmail, whyNotAnEmail } from "@/lib/config/email-address";
import { store } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import type { Call } from "@/lib/http/call";
import { fieldForPage, handleForm, withProblem } from "@/lib/http/form";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { isMailedProof } from "@/lib/mail/links/invitation-token";
import { pathAfterSignIn } from "@/lib/oauth/path-after-sign-in";

const { path } = pages.invitation;

const page = (call: Call) => {
  const [token = "", proof] = ["token", "proof"].map((name) => fieldForPage(call, path, name));
  return `${path}?${new URLSearchParams({ token, ...(proof && { proof }) })}`;
};

/** Its mailed link proves that the person reads the mailbox, so it signs in too; after another link, a code has to. */
export const { POST } = handleForm(forms.acceptInvitation, { page }, async (submission) => {
  const { field, nowMs } = submission;
  const email = parseTypedEmail(field("email"));
  if (!email) return { to: withProblem(page(submission), whyNotAnEmail(field("email"))) };
  const isMailed = isMailedProof(field("proof"), field("token"));
  if (isMailed) await requireSigningKey(nowMs); // before the invitation is used up
  const db = await store();
  const credential = { token: field("token"), email, subject: mintLocalSubject() };
  const accepted = await acceptInvitation(db, credential, nowMs);
  if (accepted === "foreign-email") return { to: withProblem(page(submission), accepted) };
  // The page explains what is wrong with the link.
  if (typeof accepted === "string") return { to: page(submission) };
  if (isMailed) {
    const signedIn = await transact(db, (transaction) =>
      signIn(transaction, email, "invitation", submission),
    );
    if (signedIn) return { ...signedIn, to: await pathAfterSignIn(submission.headers, signedIn.to) };
  }
  const redirect = await sendCode(email, submission);
  return { ...redirect, to: `${redirect.to}?opened` };
});
