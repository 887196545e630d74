import { handleOperation } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";
import { readUnsubscribeLink, unsubscribe } from "@/lib/mail/unsubscribe";

/** One-click unsubscribe (RFC 8058): the token is the only credential, and the body is ignored. */
export const { POST, OPTIONS } = handleOperation(
  operations.unsubscribe,
  { identify: readUnsubscribeLink },
  async (call, accountId) => {
    await unsubscribe(accountId, "unsubscribe link", call);
    return { status: 200, body: "The later onboarding emails are stopped.\n" };
  },
);
