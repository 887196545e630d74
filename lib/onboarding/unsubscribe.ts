import { ApiError } from "@/lib/api/errors";
import { StillSendingError, stopLaterEmails } from "@/lib/onboarding/outbox";
import { readUnsubscribeToken } from "@/lib/onboarding/unsubscribe-token";
import { within } from "@/lib/process/deadline";
import { log } from "@/lib/process/log";
import { store } from "@/lib/store/store";

const answerWithinMs = 4000; // 2 s for the store's transaction, 1.5 s for mails that are being sent

/** The account of an unsubscribe link: one `token`, ours to the byte. Throws an {@link ApiError} 400. */
export function readUnsubscribeLink({ searchParams }: URL): string {
  const tokens = searchParams.getAll("token");
  const accountId = tokens.length === 1 && readUnsubscribeToken(tokens[0] ?? "");
  if (!accountId) throw new ApiError("invalid_token");
  return accountId;
}

/**
 * Stops the later emails of an unsubscribe link, for good. Throws an {@link ApiError}: 400 for a link that is not
 * ours, 502 whenever it is not certain that none of them will be delivered.
 */
export async function unsubscribe(url: URL, requestId: string): Promise<void> {
  const accountId = readUnsubscribeLink(url);
  try {
    await within(
      answerWithinMs,
      store().then((db) => stopLaterEmails(db, accountId, Date.now())),
    );
  } catch (failure) {
    const level = failure instanceof StillSendingError ? "warn" : "error";
    log()[level]({ err: failure, requestId }, "it is not certain that the later emails are stopped");
    throw new ApiError("upstream_failed");
  }
}
