import type { Stripe } from "stripe";
import { fulfil, type Purchase } from "@/lib/billing/fulfilment";
import { readEvent, requireBilling } from "@/lib/billing/stripe";
import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { createApiHandlers, type HandlerRequest } from "@/lib/http/handler";
import { hooks } from "@/lib/http/pages";
import { errorParts } from "@/lib/http/response";
import { log } from "@/lib/runtime/log";

/**
 * Stripe's webhook: 200 after a purchase has been fulfilled and for events that are none of ours, 400 `invalid_signature`,
 * and 500 `fulfilment_failed`, so that Stripe delivers the event again. Of an event only its object's id is used.
 */
export const { POST } = createApiHandlers(
  hooks.stripe,
  async ({ headers, body, nowMs }: HandlerRequest) => {
    const event = await readEvent(body, headers.get("stripe-signature"), nowMs);
    const purchase = purchaseIn(event);
    if (purchase) await fulfilOrFail(purchase, event, nowMs);
    return { status: 200, body: { received: true } };
  },
  {
    checkPost: () => {
      requireBilling();
    },
    renderError: (error) =>
      errorParts(error.code === "internal_error" ? new ApiError("fulfilment_failed") : error),
  },
);

async function fulfilOrFail(purchase: Purchase, { id, type }: Stripe.Event, nowMs: number): Promise<void> {
  try {
    await fulfil(await store(), purchase, type, nowMs);
  } catch (failure) {
    log().warn(
      { err: failure, event: id, type },
      "a purchase could not be fulfilled; Stripe delivers the event again",
    );
    throw new ApiError("fulfilment_failed");
  }
}

function purchaseIn({ type, data }: Stripe.Event): Purchase | undefined {
  const { id, payment_intent } = data.object as { id?: unknown; payment_intent?: unknown };
  if (typeof id !== "string") return undefined;
  if (type.startsWith("checkout.session.")) return { checkout: id };
  if (/^customer\.subscription\.(?:created|updated|deleted|paused|resumed)$/.test(type))
    return { subscription: id };
  if (type === "charge.refunded" && typeof payment_intent === "string") return { payment: payment_intent };
  return undefined;
}
