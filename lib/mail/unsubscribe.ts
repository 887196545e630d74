import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { StillSendingError, stopLaterEmails } from "@/lib/mail/onboarding-outbox";
import { readUnsubscribeToken } from "@/lib/mail/unsubscribe-token";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

const answerWithinMs = 4000; // 2 s for the store's transaction, 1.5 s for mails that are being sent

const showWithinMs = 500;

/** The account of an unsubscribe link: one `token`, ours to the byte. Throws an {@link ApiError} 400. */
export function readUnsubscribeLink({ searchParams }: URL): string {
  const tokens = searchParams.getAll("token");
  const accountId = tokens.length === 1 && readUnsubscribeToken(tokens[0] ?? "");
  if (!accountId) throw new ApiError("invalid_token");
  return accountId;
}

/**
 * The email that a link is about, half hidden: enough for its owner to know it, and nothing for who was forwarded the
 * mail. `undefined` where it cannot be read in time, or is gone: the page stands without it.
 */
export async function readHalfHiddenEmail(accountId: string): Promise<string | undefined> {
  try {
    const db = await withTimeout(showWithinMs, store());
    const query = db.selectFrom("accounts").select("email").where("id", "=", accountId);
    const account = await withTimeout(showWithinMs, query.executeTakeFirst());
    return account && halfHidden(account.email);
  } catch (failure) {
    log().warn({ err: failure }, "the email of an unsubscribe link could not be read");
    return undefined;
  }
}

/** `c•••@example.com` */
function halfHidden(email: string): string {
  return email.replace(/^(.).*(@[^@]*)$/u, "$1•••$2");
}

/**
 * Stops the later emails of an unsubscribe link, for good. Throws an {@link ApiError}: 400 for a link that is not
 * ours, 502 whenever it is not certain that none of them will be delivered.
 */
export async function unsubscribe(url: URL, requestId: string): Promise<void> {
  const accountId = readUnsubscribeLink(url);
  try {
    await withTimeout(
      answerWithinMs,
      store().then((db) => stopLaterEmails(db, accountId, Date.now())),
    );
  } catch (failure) {
    const level = failure instanceof StillSendingError ? "warn" : "error";
    log()[level]({ err: failure, requestId }, "it is not certain that the later emails are stopped");
    throw new ApiError("upstream_failed");
  }
}
