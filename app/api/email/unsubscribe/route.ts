import { readBody } from "@/lib/api/body";
import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";
import { unsubscribe } from "@/lib/onboarding/unsubscribe";
import { bodyLimits } from "@/lib/settings/limits";

/** One click (RFC 8058): the token is the whole credential, and what the body says does not matter. */
export const { POST, OPTIONS } = endpoint(operations.unsubscribe, async (request, { requestId }) => {
  await readBody(request, bodyLimits.unsubscribe);
  await unsubscribe(new URL(request.url), requestId);
  return "The later onboarding emails are stopped.\n";
});
