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
  return kind === "clerk" ? inviteAtClerk(db, email, terms, by) : queueOurMail(db, email, terms, by);
}

/** Lets Clerk mail its own link. If that fails, no one could accept the invitation, so it is withdrawn. */
async function inviteAtClerk(db: Db, email: string, terms: AccountTerms, by: Operator): Promise<Queued> {
  const about = { by, ...auditedInvitation(email) } as const;
  await auditedTransaction(db, { ...about, what: "invite" }, Date.now(), (transaction) =>
    invite(transaction, email, terms, Date.now()),
  );
  try {
    return { url: await createClerkInvitation(email) };
  } catch (failure) {
    await auditedTransaction(db, { ...about, what: "invitation withdrawn" }, Date.now(), (transaction) =>
      withdrawInvitation(transaction, email),
    );
    throw failure;
  }
}

async function queueOurMail(db: Db, email: string, terms: AccountTerms, by: Operator): Promise<Queued> {
  const nowMs = Date.now();
  const about = { by, what: "invite", ...auditedInvitation(email) } as const;
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    const token = await invite(transaction, email, terms, nowMs);
    const isOnWaitlist = (await findWaiting(transaction, email)) !== undefined;
    const mail = { kind: "invitation", to: email, token, isOnWaitlist } as const;
    const mailId = await enqueueSignInMail(transaction, mail, { nowMs, untilMs: nowMs + invitationMs });
    return { url: invitationUrl(token), mailId };
  });
}
