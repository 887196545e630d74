import { ownerForm } from "@/lib/accounts/owner-form";
import { beginCheckout } from "@/lib/billing/checkout";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Begins to buy a licence or credits, and leads the owner to Stripe Checkout. */
export const POST = ownerForm(
  actions.beginCheckout,
  async ({ field, nowMs }, owner) => {
    const kind = field("credits") ? "credits" : "licence";
    const url = await beginCheckout(await store(), owner.account, kind, field(kind), nowMs);
    return url ? { away: url } : { to: `${actions.beginCheckout.page}?checkout=licensed` };
  },
  ["billing_not_configured", "credits_not_configured", "checkout_failed", "paid_only"],
);
