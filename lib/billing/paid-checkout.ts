import type { Stripe } from "stripe";
import { findCheckout, keepCheckout, settleCheckout } from "@/lib/accounts/checkouts";
import type { Cause } from "@/lib/accounts/purchases";
import { findBuyer } from "@/lib/billing/buyer";
import { readReturned } from "@/lib/billing/refunds";
import { findAtStripe, idOf } from "@/lib/billing/stripe";
import { fulfilSubscription } from "@/lib/billing/subscription";
import type { Db } from "@/lib/db/store";

const maxReadings = 5;

/**
 * Reads a checkout at Stripe: gives its credits once it is paid, takes back what was refunded or lost in a dispute, and
 * gives that again when the refund fails. A reading during which another one was stored is repeated, because it may be
 * older. A licence is its subscription's.
 */
export async function fulfilCheckout(db: Db, id: string, cause: Cause): Promise<void> {
  const expand = ["payment_intent.latest_charge"];
  for (let reading = 0; reading < maxReadings; reading++) {
    const before = await findCheckout(db, id);
    const session = await findAtStripe((stripe) => stripe.checkout.sessions.retrieve(id, { expand }));
    if (!session?.metadata?.account) return;
    const charge = chargeOf(session);
    const returned = charge ? await readReturned(charge) : { share: 0, isDisputeLost: false };
    const isCharged =
      session.status === "complete" && session.payment_status !== "unpaid" && returned.share < 1;
    const buyer = await findBuyer(db, session, isCharged, cause.nowMs);
    if (!buyer) return;
    if (session.subscription) await fulfilSubscription(db, idOf(session.subscription), cause);
    const known = before ?? (await keepCheckout(db, toRow(buyer.id, session)));
    if (await settleCheckout(db, buyer, { known, state: stateOf(session), ...returned }, cause)) return;
  }
  throw new Error("a checkout changed while it was read");
}

function toRow(account_id: string, { id, mode, metadata, created }: Stripe.Checkout.Session) {
  const kind = mode === "subscription" ? "licence" : "credits";
  const sold = { kind, price_id: metadata?.price ?? "", thousandths: Number(metadata?.thousandths) || 0 };
  return { id, account_id, ...sold, state: "unpaid", created_at_ms: created * 1000, session_id: id };
}

/** The state of a checkout that is no longer open; a licence's is fulfilled once its subscription is stored. */
function stateOf(session: Stripe.Checkout.Session): string | undefined {
  const { mode, status, payment_status, payment_intent } = session;
  if (status !== "complete") return status === "expired" ? status : undefined;
  if (mode === "subscription" || payment_status !== "unpaid") return "fulfilled";
  const payment = typeof payment_intent === "object" ? payment_intent?.status : undefined;
  return payment === "requires_payment_method" || payment === "canceled" ? "failed" : "unpaid";
}

function chargeOf({ payment_intent }: Stripe.Checkout.Session): Stripe.Charge | undefined {
  const charge = typeof payment_intent === "object" ? payment_intent?.latest_charge : undefined;
  return charge && typeof charge === "object" ? charge : undefined;
}
