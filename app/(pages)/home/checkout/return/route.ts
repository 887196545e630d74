import { findCheckout } from "@/lib/billing/fulfilment/bought-credits";
import { fulfil } from "@/lib/billing/fulfilment/fulfilment";
import { store } from "@/lib/db/store";
import { redirectTo } from "@/lib/http/form";
import { handleOperation } from "@/lib/http/handler";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { counter } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";

/**
 * Takes the browser back from Stripe Checkout. It fulfils what was bought, so that the page shows it also if the webhook is
 * late; the address only names the checkout, whose account and amount Stripe has. Checkouts that no one here began, and
 * settled ones, cause no call to Stripe.
 */
export const { GET } = handleOperation(forms.returnFromCheckout, {}, async (call) => {
  const id = call.query.get("session");
  const outcome = id ? await settle(id, call.nowMs) : "cancelled";
  return redirectTo({ to: `${pages.billing.path}?checkout=${outcome}` });
});

async function settle(id: string, nowMs: number): Promise<"bought" | "pending"> {
  try {
    const db = await store();
    const returns = counter("checkout-returns", 10, 10 * 60); // ten in ten minutes: anyone may repeat one
    if ((await findCheckout(db, id))?.state === "open" && (await returns.consume(id)).allowed)
      await fulfil(db, { checkout: id }, "return", nowMs);
    return (await findCheckout(db, id))?.state === "fulfilled" ? "bought" : "pending";
  } catch (failure) {
    log().warn({ err: failure }, "a purchase was not fulfilled at the return");
    return "pending";
  }
}
