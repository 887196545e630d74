import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";
import { unsubscribe } from "@/lib/mail/unsubscribe";

/** One click (RFC 8058): the token is the whole credential, and what the body says does not matter. */
export const { POST, OPTIONS } = createOperationHandlers(operations.unsubscribe, async ({ url, context }) => {
  await unsubscribe(url, context.requestId);
  return "The later onboarding emails are stopped.\n";
});
