import { purchaseIn } from "@/lib/billing/fulfilment/events";
import { fulfil } from "@/lib/billing/fulfilment/fulfilment";
import { StripeFailure } from "@/lib/billing/stripe/calls";
import { readEvent, requireSignature, type StripeEvent } from "@/lib/billing/stripe/delivery";
import { store } from "@/lib/db/store";
import { isStoreOutage } from "@/lib/db/store-outage";
import { ApiError } from "@/lib/http/errors";
import { handleOperation } from "@/lib/http/handler";
import { hooks } from "@/lib/http/register/hooks";
import { inBackground } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

/**
 * Stripe's webhook: 200 after a purchase has been fulfilled and for events that are none of ours, 400 `invalid_signature`,
 * and 500 `fulfilment_failed`, so that Stripe delivers the event again, or 503 while enough are being fulfilled and in an outage
 * of the store. Of an event only the id of what it is about is used.
 */
export const { POST } = handleOperation(
  hooks.stripe,
  {
    requireKey: ({ headers }) => requireSignature(headers.get("stripe-signature")),
    identify: ({ headers, body, nowMs }) => readEvent(body, headers.get("stripe-signature"), nowMs),
  },
  async ({ nowMs }, event: StripeEvent) => {
    const purchase = purchaseIn(event);
    try {
      // Owners who buy meanwhile go first, at Stripe and in the store.
      if (purchase) await inBackground(async () => fulfil(await store(), purchase, event.type, nowMs));
    } catch (failure) {
      const fields = { err: failure, event: event.id, type: event.type };
      log().warn(fields, "a purchase could not be fulfilled; Stripe delivers the event again");
      const isBusy = failure instanceof StripeFailure && failure.code === "busy";
      throw new ApiError(isBusy || isStoreOutage(failure) ? "unavailable" : "fulfilment_failed");
    }
    return { status: 200, body: { received: true } };
  },
);
