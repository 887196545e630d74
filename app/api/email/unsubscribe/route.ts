import { createApiHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";
import { unsubscribe } from "@/lib/mail/unsubscribe";

/** One-click unsubscribe (RFC 8058): the token is the only credential, and the body is ignored. */
export const { POST, OPTIONS } = createApiHandlers(operations.unsubscribe, async ({ url, context }) => {
  await unsubscribe(url, context.requestId);
  return { status: 200, body: "The later onboarding emails are stopped.\n" };
});
