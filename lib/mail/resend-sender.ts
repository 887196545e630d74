import { Resend } from "resend";
import type { MailSettings } from "@/lib/config/mail-settings";
import { SendError, type Sender, sendWithinMs } from "@/lib/mail/mail";

type ResendSettings = Extract<MailSettings, { kind: "resend" }>;

/**
 * Sends by Resend. Its SDK neither throws nor waits nor tries again by itself. A mail handed over again within
 * 24 hours is sent once, by its idempotency key.
 */
export function createResendSender(
  { apiKey, baseUrl, from }: ResendSettings,
  replyTo: string | undefined,
  withinMs = sendWithinMs,
): Sender {
  const resend = new Resend(apiKey, { baseUrl });
  const sentBy = from.name ? `${quote(from.name)} <${from.address}>` : from.address;
  return {
    withinMs,
    atOnce: 5,
    async send({ id, to, subject, text, html, headers }) {
      const { error, headers: answered } = await resend.emails.send(
        { from: sentBy, to, subject, text, html, headers, ...(replyTo ? { replyTo } : {}) },
        { idempotencyKey: id, signal: AbortSignal.timeout(withinMs) },
      );
      if (error) throw toSendError(error, answered?.["retry-after"]);
    },
    async check() {
      const signal = AbortSignal.timeout(withinMs);
      const { error } = await resend.domains.list(undefined, { signal });
      // The key that we ask for may do nothing but send.
      if (error && error.name !== "restricted_api_key") throw toSendError(error);
      return "Resend answers";
    },
  };
}

/** A display name as a quoted string (RFC 5322 §3.2.4). */
function quote(name: string): string {
  return `"${name.replace(/["\\]/g, "\\$&")}"`;
}

type ResendError = { name: string; statusCode: number | null };

/**
 * What is wrong with this one mail is given up; what time or the operator can cure (the network, 429, 5xx, the key,
 * the domain) is tried again. `invalid_idempotent_request` means that a mail with this id was accepted earlier.
 */
function toSendError({ name, statusCode }: ResendError, retryAfter?: string): SendError {
  if (!statusCode) return new SendError("resend: no answer", { mayRetry: true, mayArrive: true });
  const isRefused = statusCode === 400 || statusCode === 422 || statusCode === 451;
  const isTaken = name === "invalid_idempotent_request";
  return new SendError(`resend: ${statusCode} ${name}`, {
    mayRetry: !isRefused && !isTaken,
    mayArrive: statusCode >= 500 || name === "concurrent_idempotent_requests",
    pauseMs: name === "rate_limit_exceeded" ? (Number(retryAfter) || 1) * 1000 : 0,
  });
}
