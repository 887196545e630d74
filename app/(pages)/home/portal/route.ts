import { rejectImpersonator, requireOwner } from "@/lib/accounts/owner";
import { openPortal } from "@/lib/billing/customer";
import { requireBilling } from "@/lib/billing/stripe";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

/** Leads the owner to Stripe's billing portal. */
export const POST = form(
  actions.openPortal,
  () => pages.home.path,
  async (submission) => {
    requireBilling();
    const owner = await requireOwner(submission, submission.field("account"));
    await rejectImpersonator(owner, "billing portal refused", submission.nowMs);
    return { away: await openPortal(await store(), owner.account, submission.nowMs) };
  },
  ["billing_not_configured", "portal_failed", "paid_only"],
);
