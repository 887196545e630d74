import { readBody } from "@/lib/api/body";
import { endpoint } from "@/lib/api/endpoint";
import { bodyLimits } from "@/lib/api/limits";
import { operations } from "@/lib/api/operations";
import { unsubscribe } from "@/lib/emails/unsubscribe";

/** One click (RFC 8058): the token is the whole credential, and what the body says does not matter. */
export const { POST, OPTIONS } = endpoint(operations.unsubscribe, async (request, { requestId }) => {
  await readBody(request, bodyLimits.unsubscribe);
  await unsubscribe(new URL(request.url), requestId);
  return "The later onboarding emails are stopped.\n";
});
