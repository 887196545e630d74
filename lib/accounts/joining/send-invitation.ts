import { randomUUID } from "node:crypto";
import { auditedInvitation, invite, withdrawInvitation } from "@/lib/accounts/joining/invitations";
import { findWaiting } from "@/lib/accounts/joining/waitlist";
import type { AccountTerms } from "@/lib/accounts/terms/gift";
import { trialDaysOf } from "@/lib/accounts/terms/trial";
import { hourMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { invitationMs, invitationUrl } from "@/lib/mail/links/invitation-token";
import { requireKeys } from "@/lib/mail/links/link-keys";
import { recordAttempt } from "@/lib/mail/outbox/attempts";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { outbox } from "@/lib/mail/outbox/outboxes";
import {
  ClerkIsBusy,
  clerkTakes,
  createClerkInvitation,
  hoursUntilClerkTakes,
} from "@/lib/mail/senders/clerk-invitations";
import { sender } from "@/lib/mail/senders/sender";

/** An invitation's link and the id of our mail with it; no link if it waits until Clerk takes more. */
type Queued = { url?: string; mailId?: string };

/**
 * Invites an email, which must not have an account, and sends the mail at once. Returns the link and, if its mail was not
 * accepted, the provider's words. Throws an {@link ApiError} as {@link queueInvitation} does.
 */
export async function sendInvitation(
  db: Db,
  email: string,
  terms: AccountTerms,
): Promise<{ url?: string; failure?: string | undefined }> {
  const { url, mailId } = await queueInvitation(db, email, terms, "operator");
  if (mailId) await sendDueMails(db, sender(), outbox);
  const attempts = db
    .selectFrom("sign_in_mail_attempts")
    .select("failure")
    .where("id", "=", mailId ?? "");
  const failure = (await attempts.executeTakeFirst())?.failure ?? undefined;
  return { ...(url && { url }), failure };
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
    const about = { isOnWaitlist, trialDays: trialDaysOf(terms) };
    const mail = { kind: "invitation", to: email, token, ...about } as const;
    const mailId = await enqueueMail(transaction, mail, { nowMs, untilMs: nowMs + invitationMs });
    return { url: invitationUrl(token), mailId };
  });
  if (queued) return queued;
  const mail = { kind: "clerk invitation", to: email } as const;
  const wait = async (hours: number): Promise<Queued> => {
    const times = { nowMs, dueAtMs: nowMs + hours * hourMs, untilMs: nowMs + invitationMs };
    const id = await enqueueMail(db, mail, times);
    const failure = `queued: Clerk takes ${clerkTakes} invitations an hour`;
    await recordAttempt(db, { id, ...mail, state: "retrying", failure }, nowMs);
    return {};
  };
  const hours = await hoursUntilClerkTakes(db, nowMs);
  if (hours > 0) return wait(hours);
  try {
    const url = await createClerkInvitation(email);
    await recordAttempt(db, { id: randomUUID(), ...mail, state: "sent" }, nowMs);
    return { url };
  } catch (failure) {
    if (failure instanceof ClerkIsBusy) return wait(1);
    // Without Clerk's mail, no one could accept the invitation.
    await auditedTransaction(db, { ...about, what: "invitation withdrawn" }, Date.now(), (transaction) =>
      withdrawInvitation(transaction, email),
    );
    throw failure;
  }
}
