import { quoteLocalPart } from "@/lib/config/email-address";
import { answersWithinMs } from "@/lib/config/limits";
import type { MailSettings } from "@/lib/config/mail-settings";
import { SendError, type Sender } from "@/lib/mail/mail";

/**
 * Sends by Resend, whose SDK returns errors instead of throwing, has no timeout and does not retry. A mail that is
 * retried within 24 hours is sent once, because its id is the idempotency key.
 */
export function createResendSender(
  { apiKey, baseUrl }: Extract<MailSettings, { kind: "resend" }>,
  timeoutMs = answersWithinMs.mail,
): Sender {
  const resend = import("resend").then(({ Resend }) => new Resend(apiKey, { baseUrl }));
  return {
    maxConcurrent: 5,
    async send({ id, from, to, replyTo, ...mail }) {
      // A display name as a quoted string (RFC 5322 §3.2.4).
      const name = from.name.replace(/["\\]/g, "\\$&");
      const sender = name ? `"${name}" <${from.address}>` : from.address;
      const { emails } = await resend;
      const { error, headers: responseHeaders } = await emails.send(
        { ...mail, to: quoteLocalPart(to), from: sender, ...(replyTo && { replyTo }) },
        { idempotencyKey: id, signal: AbortSignal.timeout(timeoutMs) },
      );
      if (error) throw toSendError(error, responseHeaders?.["retry-after"]);
    },
    async check() {
      const signal = AbortSignal.timeout(timeoutMs);
      const { error } = await (await resend).domains.list(undefined, { signal });
      // A key that may only send is enough.
      if (error && error.name !== "restricted_api_key") throw toSendError(error);
      return "Resend answers";
    },
  };
}

type ResendError = { name: string; statusCode: number | null; message: string };

/** A field of a mail that a setting fills in: EMAIL_FROM or SUPPORT_EMAIL. */
const ownField = /`(?:from|reply_to)`/;

/**
 * A mail that Resend rejects as invalid fails; anything that time or the operator can fix (network, 429, 5xx, key,
 * domain, our addresses) is retried. `invalid_idempotent_request` means that a mail with this id was accepted earlier.
 */
function toSendError({ name, statusCode, message }: ResendError, retryAfter?: string): SendError {
  if (!statusCode) return new SendError("resend: no answer", { mayRetry: true, mayArrive: true });
  const isInvalid = statusCode === 400 || statusCode === 422 || statusCode === 451;
  const isRefused = isInvalid && !ownField.test(message);
  const wasAccepted = name === "invalid_idempotent_request";
  return new SendError(`resend: ${statusCode} ${name}`, {
    mayRetry: !isRefused && !wasAccepted,
    mayArrive: statusCode >= 500 || name === "concurrent_idempotent_requests",
    pauseMs: name === "rate_limit_exceeded" ? (Number(retryAfter) || 1) * 1000 : 0,
  });
}
