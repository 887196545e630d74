import { accountBy } from "@/lib/db/account-by";
import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { areLaterEmailsStopped, stopLaterEmails } from "@/lib/mail/onboarding-outbox";
import { readUnsubscribeToken } from "@/lib/mail/unsubscribe-token";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

const stopTimeoutMs = 4000; // 2 s for the store's transaction, 1.5 s for mails that are being sent
const readTimeoutMs = 500;

/** The account id of an unsubscribe link with one valid `token`. Throws an {@link ApiError} 400. */
export async function readUnsubscribeLink({ searchParams }: URL): Promise<string> {
  const tokens = searchParams.getAll("token");
  const accountId =
    tokens.length === 1 && (await withTimeout(stopTimeoutMs, readUnsubscribeToken(tokens[0] ?? "")));
  if (!accountId) throw new ApiError("invalid_token");
  return accountId;
}

/**
 * Reads the state of an unsubscribe link's account. If it cannot be read in time, the emails count as not stopped.
 *
 * @returns the masked email of the account, which its owner recognises, and someone who was forwarded the mail does not
 *   learn; `undefined` if the account was deleted. And whether the later emails are stopped already
 */
export function readSubscription(accountId: string) {
  const read = async () => {
    const db = await store();
    const account = await accountBy(db, "id", accountId).select("email").executeTakeFirst();
    const isStopped = await areLaterEmailsStopped(db, accountId, Date.now());
    const masked = account?.email.replace(/^(.).*(@[^@]*)$/u, "$1•••$2"); // c•••@example.com
    return { email: masked, isStopped };
  };
  return withTimeout(readTimeoutMs, read()).catch((failure) => {
    log().warn({ err: failure }, "the state of an unsubscribe link could not be read");
    return { email: undefined, isStopped: false };
  });
}

/**
 * Stops the later emails of an unsubscribe link permanently. Throws an {@link ApiError}: 400 for an invalid link, 502
 * if an email may still be delivered.
 */
export async function unsubscribe(url: URL, requestId: string): Promise<void> {
  try {
    const accountId = await readUnsubscribeLink(url);
    const stopping = store().then((db) => stopLaterEmails(db, accountId, Date.now()));
    if (await withTimeout(stopTimeoutMs, stopping)) return;
    log().warn({ requestId }, "an onboarding mail was still being sent; it may still be delivered");
  } catch (failure) {
    if (failure instanceof ApiError && failure.code === "invalid_token") throw failure;
    log().error({ err: failure, requestId }, "stopping the later emails failed; some may still be delivered");
  }
  throw new ApiError("upstream_failed");
}
