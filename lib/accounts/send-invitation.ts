import type { AccountTerms } from "@/lib/accounts/accounts";
import { createClerkInvitation } from "@/lib/accounts/clerk-invitations";
import { auditedInvitation, invite, withdrawInvitation } from "@/lib/accounts/invitations";
import { findWaiting } from "@/lib/accounts/waitlist";
import { invitationMs, invitationUrl } from "@/lib/auth/invitation-token";
import { sendSignInMails } from "@/lib/auth/sign-in-runner";
import { settings } from "@/lib/config/settings";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { requireKeys } from "@/lib/mail/link-keys";
import { sender } from "@/lib/mail/sender";
import { enqueueSignInMail } from "@/lib/mail/sign-in-outbox";

/** An invitation's link, and the id of our mail with it. */
type Queued = { url: string; mailId?: string };

/**
 * Invites an email, which must not have an account, and sends the mail at once. Returns the link and, if its mail was not
 * accepted, the provider's words. Throws an {@link ApiError} as {@link queueInvitation} does.
 */
export async function sendInvitation(
  db: Db,
  email: string,
  terms: AccountTerms,
): Promise<{ url: string; failure?: string | undefined }> {
  const { url, mailId } = await queueInvitation(db, email, terms, "operator");
  const unsent = mailId && (await sendSignInMails(db, sender())).find(({ id }) => id === mailId);
  return { url, failure: unsent ? unsent.failure : undefined };
}

/**
 * Invites an email, and leaves our mail to the runner; Clerk mails a link of its own. Throws an {@link ApiError} where no
 * one can sign in, if the email has an account, if the terms contradict each other, or if Clerk refuses.
 */
export async function queueInvitation(
  db: Db,
  email: string,
  terms: AccountTerms,
  by: Operator,
): Promise<Queued> {
  const { kind } = settings().signIn;
  if (kind === "none") {
    throw new ApiError("not_configured", {
      message: "Sign-in is not set up, so no one could accept an invitation.",
      hint: "Set SIGN_IN=local or Clerk's keys, here and for the server.",
    });
  }
  if (kind === "local") await requireKeys(db);
  const nowMs = Date.now();
  const about = { by, ...auditedInvitation(email) } as const;
  const queued = await auditedTransaction(db, { ...about, what: "invite" }, nowMs, async (transaction) => {
    const token = await invite(transaction, email, terms, nowMs);
    if (kind === "clerk") return undefined;
    const isOnWaitlist = (await findWaiting(transaction, email)) !== undefined;
    const mail = { kind: "invitation", to: email, token, isOnWaitlist } as const;
    const mailId = await enqueueSignInMail(transaction, mail, { nowMs, untilMs: nowMs + invitationMs });
    return { url: invitationUrl(token), mailId };
  });
  if (queued) return queued;
  try {
    return { url: await createClerkInvitation(email) };
  } catch (failure) {
    // Without Clerk's mail, no one could accept the invitation.
    await auditedTransaction(db, { ...about, what: "invitation withdrawn" }, Date.now(), (transaction) =>
      withdrawInvitation(transaction, email),
    );
    throw failure;
  }
}
