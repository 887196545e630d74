import { readBody } from "@/lib/api/body";
import { endpoint } from "@/lib/api/endpoint";
import { ApiError } from "@/lib/api/errors";
import { bodyLimits } from "@/lib/api/limits";
import { operations } from "@/lib/api/operations";
import { within } from "@/lib/deadline";
import { stopLaterEmails } from "@/lib/emails/outbox";
import { readUnsubscribeToken } from "@/lib/emails/unsubscribe-token";
import { log } from "@/lib/log";
import { deadlineMs, store } from "@/lib/store/store";

/** One click (RFC 8058): the token is the whole credential, and what the body says does not matter. */
export const { POST, OPTIONS } = endpoint(operations.unsubscribe, async (request, { requestId }) => {
  await readBody(request, bodyLimits.unsubscribe);
  const tokens = new URL(request.url).searchParams.getAll("token");
  const accountId = tokens.length === 1 && readUnsubscribeToken(tokens[0] ?? "");
  if (!accountId) throw new ApiError("invalid_token");
  try {
    await within(
      deadlineMs,
      store().then((db) => stopLaterEmails(db, accountId, Date.now())),
    );
  } catch (failure) {
    log().error({ err: failure, requestId }, "the later emails could not be stopped");
    throw new ApiError("upstream_failed");
  }
  return "The later onboarding emails are stopped.\n";
});
