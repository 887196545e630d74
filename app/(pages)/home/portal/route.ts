import { ownerForm } from "@/lib/accounts/owner-form";
import { openPortal } from "@/lib/billing/customer";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Leads the owner to Stripe's billing portal. */
export const POST = ownerForm(
  actions.openPortal,
  async ({ nowMs }, owner) => {
    return { away: await openPortal(await store(), owner.account, nowMs) };
  },
  ["billing_not_configured", "portal_failed", "paid_only"],
);
