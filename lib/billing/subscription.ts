import type { Stripe } from "stripe";
import { differs, settleTerms } from "@/lib/accounts/effective-terms";
import { type Cause, changeAccount, tellOfSecond, tellOnce } from "@/lib/accounts/purchases";
import { alignEmail, findBuyer } from "@/lib/billing/customer";
import { hasEnded, type Row, readTerms, termsOfGone } from "@/lib/billing/grace-period";
import { findLicenceItems } from "@/lib/billing/prices";
import { findAtStripe } from "@/lib/billing/stripe";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { enqueuePaymentFailed } from "@/lib/mail/licence-mails";

const maxReadings = 5;

/**
 * Reads a subscription at Stripe and stores until when it is a licence. A reading is stored only if no other one was stored
 * meanwhile. Ignores what is none of ours.
 */
export async function fulfilSubscription(db: Db, id: string, { event, nowMs }: Cause): Promise<void> {
  for (let reading = 0; reading < maxReadings; reading++) {
    const known = await findSubscription(db, id);
    const expand = ["customer", "latest_invoice"];
    const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id, { expand }));
    const items = subscription ? await findLicenceItems(subscription, nowMs) : [];
    if (subscription?.metadata.account && items.length === 0) {
      const prices = subscription.items.data.map(({ price }) => price.id).join(", ");
      await tellOnce(db, { what: "subscription for another price", whom: id, after: { prices } }, nowMs);
    }
    if (!known && items.length === 0) return;
    const buyer = known
      ? await accountBy(db, "id", known.account_id).select(["id", "email"]).executeTakeFirst()
      : subscription && (await findBuyer(db, subscription, !hasEnded(subscription), nowMs));
    if (!buyer) return;
    const terms = subscription
      ? await readTerms(subscription, items, known, nowMs)
      : known && termsOfGone(known, nowMs);
    if (!terms) return;
    const what = `subscription ${terms.status}`;
    const isSame = known && !differs(known, terms);
    const isStored =
      isSame ||
      (await changeAccount(db, buyer, what, nowMs, async (transaction, account) => {
        const current = await findSubscription(transaction, id);
        if ((current?.version ?? 0) !== (known?.version ?? 0)) return false;
        const created_at_ms = current?.created_at_ms ?? (subscription?.created ?? 0) * 1000;
        const row = { ...terms, version: (current?.version ?? 0) + 1 };
        await transaction
          .insertInto("billing_subscriptions")
          .values({ id, account_id: buyer.id, created_at_ms, ...row })
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute();
        if (terms.licence_until_ms > 0 && !current?.licence_until_ms)
          await tellOfSecond(transaction, buyer, id, nowMs);
        const isFailing = terms.status === "past_due" && terms.licence_until_ms > 0;
        if (isFailing && current?.unpaid_since_ms !== terms.unpaid_since_ms)
          await enqueuePaymentFailed(transaction, { id, ...terms }, nowMs);
        await settleTerms(transaction, account, nowMs);
        return true;
      }));
    if (!isStored) continue;
    const noted = {
      last_event: event,
      last_event_at_ms: nowMs,
      ...(subscription && invoiceColumns(subscription, items)),
    };
    await db.updateTable("billing_subscriptions").set(noted).where("id", "=", id).execute();
    const customer = subscription?.customer;
    if (typeof customer === "object" && !customer.deleted) await alignEmail(customer, buyer.email);
    return;
  }
  throw new Error("a subscription changed while it was read");
}

/** The states of a customer's subscriptions for a licence that have not ended at Stripe, after they were fulfilled. */
export async function readLiveStates(db: Db, customer: string, nowMs: number): Promise<string[]> {
  const all = await findAtStripe((stripe) => stripe.subscriptions.list({ customer, limit: 100 }));
  const states: string[] = [];
  for (const subscription of all?.data ?? []) {
    if (hasEnded(subscription) || (await findLicenceItems(subscription, nowMs)).length === 0) continue;
    await fulfilSubscription(db, subscription.id, { event: "another checkout", nowMs });
    states.push((await findSubscription(db, subscription.id))?.status ?? subscription.status);
  }
  return states;
}

function findSubscription(db: Db, id: string): Promise<Row | undefined> {
  return db.selectFrom("billing_subscriptions").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The price of the licence, which may have other items next to it, and the latest invoice. */
function invoiceColumns(
  { items, latest_invoice: invoice }: Stripe.Subscription,
  [item = items.data[0]]: Stripe.SubscriptionItem[],
) {
  const whole = invoice && typeof invoice === "object" ? invoice : undefined;
  return {
    price_id: item?.price.id ?? null,
    invoice_id: whole?.id ?? null,
    invoice_status: whole?.status ?? null,
    amount_due: whole && whole.status !== "paid" && whole.status !== "void" ? whole.amount_remaining : 0,
    currency: whole?.currency ?? null,
  };
}
