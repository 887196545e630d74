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
  await discardBody(request);
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

/** Reads the body to its end; throws a 413 as soon as it is over the bound, whatever Content-Length said. */
async function discardBody({ body }: Request): Promise<void> {
  const reader = body?.getReader();
  let bytes = 0;
  for (;;) {
    const chunk = await reader?.read().catch(() => {
      throw new ApiError("invalid_request", { message: "The body did not arrive whole." });
    });
    if (!chunk || chunk.done) return;
    bytes += chunk.value.byteLength;
    if (bytes > bodyLimits.unsubscribe)
      throw new ApiError("too_large", { message: "The body is over 4 KiB." });
  }
}
