import * as z from "zod";
import { stripeLibrary } from "@/lib/billing/stripe/calls";
import { requireBilling } from "@/lib/http/checks/billing";
import { ApiError } from "@/lib/http/errors";
import { requireSigned, type Unsigned } from "@/lib/http/hook-deliveries";
import { parseJson } from "@/lib/http/json";
import { hooks } from "@/lib/http/register/hooks";
import { log } from "@/lib/runtime/log";

const event = z.object({ id: z.string(), type: z.string(), data: z.object({ object: z.looseObject({}) }) });

/** An event at Stripe, with its object as it was then. */
export type StripeEvent = z.infer<typeof event>;

/**
 * Refuses what is no delivery of Stripe's before its body is read: Stripe signs once with each secret of an endpoint, of which
 * there are two while one is rolled, and once more with `v0`.
 */
export function requireSignature(signature: string | null): void {
  if (!signature || signature.length > maxSignatureCharacters) throw new ApiError("invalid_signature");
}

const maxSignatureCharacters = 1024; // 14 signatures

/**
 * Reads an event of a delivery, whose signature may be five minutes old. Throws `invalid_signature`, or `invalid_request`
 * for what Stripe has signed and is no such event: thin events name their object alone.
 */
export async function readEvent(body: Buffer, signature: string | null, nowMs: number): Promise<StripeEvent> {
  requireSigned(hooks.stripe.path, await whyUnsigned(body, signature ?? "", nowMs), nowMs);
  const signed = parseJson(body);
  const { data } = event.safeParse(signed);
  if (data) return data;
  if (!isThin.safeParse(signed).success)
    throw new ApiError("invalid_request", { message: "The delivery is not an event in JSON." });
  log().warn(`billing: Stripe delivers thin events. ${useSnapshots}`);
  throw new ApiError("invalid_request", { message: "This is a thin event.", hint: useSnapshots });
}

async function whyUnsigned(body: Buffer, signature: string, nowMs: number): Promise<Unsigned | undefined> {
  const { webhookSecret } = requireBilling();
  const { webhooks } = await stripeLibrary();
  const isSigned = (seconds: number) => {
    try {
      return webhooks.signature?.verifyHeader(body, signature, webhookSecret, seconds, undefined, nowMs);
    } catch {
      return false;
    }
  };
  if (isSigned(toleranceSeconds)) return undefined;
  if (!/^t=\d{1,12},v1=/.test(signature)) return "no signature";
  return isSigned(Number.POSITIVE_INFINITY) ? "another time" : "another secret";
}

const toleranceSeconds = 5 * 60; // 5 minutes
const isThin = z.object({ object: z.literal("v2.core.event") });
const useSnapshots =
  "At Stripe, create a webhook endpoint with the payload style 'snapshot', and set its signing secret as STRIPE_WEBHOOK_SECRET.";
