import { rejectImpersonator, requireOwner } from "@/lib/accounts/owner";
import { beginCheckout } from "@/lib/billing/checkout";
import { requireBilling } from "@/lib/billing/stripe";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

/** Begins to buy a licence or credits, and leads the owner to Stripe Checkout. */
export const POST = form(
  actions.beginCheckout,
  () => pages.home.path,
  async (submission) => {
    requireBilling();
    const { field, nowMs } = submission;
    const owner = await requireOwner(submission, field("account"));
    await rejectImpersonator(owner, "checkout refused", nowMs);
    const kind = field("credits") ? "credits" : "licence";
    const url = await beginCheckout(await store(), owner.account, kind, field(kind), nowMs);
    return url ? { away: url } : { to: `${pages.home.path}?checkout=licensed` };
  },
  ["billing_not_configured", "credits_not_configured", "checkout_failed", "paid_only"],
);
