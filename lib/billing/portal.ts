import { findCustomer } from "@/lib/billing/customer";
import { readAtStripe, requireBilling } from "@/lib/billing/stripe";
import { readBilling } from "@/lib/billing/summary";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";

/** Opens Stripe's billing portal for an account that has bought something. Returns its address. */
export async function openPortal(db: Db, accountId: string): Promise<string> {
  requireBilling();
  const customer = (await findCustomer(db, accountId))?.customer_id;
  if (!customer || !(await readBilling(db, accountId)).hasBought) throw new ApiError("paid_only");
  try {
    const return_url = `${settings().appUrl}${pages.home.path}`;
    const { url } = await readAtStripe((stripe) =>
      stripe.billingPortal.sessions.create({ customer, return_url }),
    );
    return url;
  } catch (failure) {
    log().warn({ err: failure }, "the billing portal could not be opened");
    throw new ApiError("portal_failed");
  }
}
