import type { NotNull, Selectable } from "kysely";
import type { Stripe } from "stripe";
import { spendable, writeCreditEntry } from "@/lib/accounts/credits/ledger";
import { type Buyer, changeAccount, type Stored } from "@/lib/billing/customer/purchases";
import { type Payment, partReturned } from "@/lib/billing/stripe/payments";
import { stopAutomaticPurchase } from "@/lib/billing/top-ups/automatic-purchase";
import { moneyInWords } from "@/lib/config/money";
import { recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { metrics } from "@/lib/runtime/metrics";

/** A checkout that an account began. */
export type Checkout = Selectable<Tables["billing_checkouts"]>;

/** The checkout of a session at Stripe. */
export function findCheckout(db: Db, session: string | null): Promise<Checkout | undefined> {
  return db.selectFrom("billing_checkouts").selectAll().where("session_id", "=", session).executeTakeFirst();
}

/** The query of what was begun at Stripe, by the ids there. */
export const selectBegun = (db: Db) =>
  db
    .selectFrom("billing_checkouts")
    .select("session_id as checkout")
    .where("session_id", "is not", null)
    .$narrowType<{ checkout: NotNull }>();

/** A checkout as it was in the store, and as it was read at Stripe because of an event. */
type Reading = {
  buyer: Buyer;
  known: Checkout;
  state: string;
  session: Pick<Stripe.Checkout.Session, "amount_total" | "currency">;
  payment: Payment | undefined;
  event: string;
};

/** Stores the state of a checkout with the credits that it gives or takes back. */
export async function settleCheckout(
  db: Db,
  { buyer, known, session, payment, event, ...read }: Reading,
  nowMs: number,
): Promise<Stored> {
  const { currency } = session;
  const amount = session.amount_total ?? 0;
  const part = payment && partOf(amount, currency, payment);
  const returned = part ? partReturned(amount, part) : 0;
  const state = known.state === "fulfilled" ? known.state : read.state;
  const isNew = state !== known.state && state === "fulfilled";
  const refunded = part ? partReturned(known.thousandths, part) : 0;
  const due = refunded - known.refunded_thousandths;
  const comesBack = payment?.dispute === "won" ? "dispute won" : "refund failed";
  const reason = due < 0 ? comesBack : payment?.dispute === "lost" ? "dispute lost" : "refunded";
  const what = due === 0 ? "credits" : `credits ${reason}`;
  const { session_id: checkout, price_id } = known;
  const inWords = (amount: number) => currency && moneyInWords(amount, currency);
  const facts = {
    price: price_id,
    checkout,
    paid: inWords(amount),
    ...(returned > 0 && { returned: inWords(returned) }),
  };
  const outcome = await changeAccount(db, { buyer, what, facts }, nowMs, async (transaction, account) => {
    const current = await findCheckout(transaction, known.session_id);
    const isSame =
      current?.state === known.state && current.refunded_thousandths === known.refunded_thousandths;
    if (!isSame) return "outdated";
    const write = async (thousandths: number, reason: string, amount: number | null) => {
      const entry = { account_id: account.id, thousandths, reason, checkout, price_id, amount, currency };
      if (thousandths !== 0) await writeCreditEntry(transaction, entry, nowMs);
    };
    const given = isNew ? known.thousandths : 0;
    await write(given, known.kind === "top-up" ? "bought automatically" : "bought", amount);
    const inLedger = due === 0 ? null : await sumOf(transaction, account.id, checkout);
    const takenBefore = known.taken_thousandths ?? known.refunded_thousandths;
    const taken = due < 0 ? -Math.min(-due, takenBefore) : Math.min(due, spendable(account) + given);
    await write(-taken, reason, inLedger === null ? null : amount - returned - inLedger);
    // Who takes a payment back does not want the next one.
    if (due > 0 || event === "charge.dispute.created")
      await stopAutomaticPurchase(transaction, account, { why: "returned" }, nowMs);
    if (due > taken) {
      const after = { not_taken_back_thousandths: due - taken };
      const about = { by: "stripe", what: "credits not taken back", whom: buyer.email, after } as const;
      await recordAudit(transaction, about, nowMs);
    }
    const settled = { state, refunded_thousandths: refunded, taken_thousandths: takenBefore + taken };
    await transaction
      .updateTable("billing_checkouts")
      .set({ ...settled, last_event: event, last_event_at_ms: nowMs })
      .where("id", "=", known.id)
      .execute();
    return "stored";
  });
  if (outcome === "stored" && isNew) metrics()?.purchases.inc({ outcome: "fulfilled" });
  return outcome;
}

/**
 * A payment with the amount of which it is a part: a balance at Stripe may have paid the rest of an automatic purchase. A
 * charge in the buyer's own currency has paid all of a checkout in that of the price.
 */
function partOf(total: number, currency: string | null, payment: Payment): Payment {
  return payment.currency === currency ? { ...payment, amount: Math.max(total, payment.amount) } : payment;
}

/** What the ledger says was paid for a checkout and not returned; null if that was given before it said so. */
async function sumOf(transaction: Db, account: string, checkout: string | null): Promise<number | null> {
  const entries = transaction.selectFrom("credit_entries").where("account_id", "=", account);
  const sum = entries
    .where("checkout", "=", checkout)
    .select(({ fn }) => fn.sum<number | null>("amount").as("sum"));
  return (await sum.executeTakeFirst())?.sum ?? null;
}
