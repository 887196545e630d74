import { jitter } from "@/lib/runtime/jitter";

/** `Retry-After` (RFC 9110 §10.2.3) for a 503 that is expected to end soon: 5 to 30 seconds. */
export function retryAfterOutage(): { "retry-after": string } {
  return { "retry-after": String(jitter(5, 30, Math.random())) };
}
