import type { Selectable } from "kysely";
import { writeCreditEntry } from "@/lib/accounts/ledger";
import { type Buyer, type Cause, changeAccount } from "@/lib/accounts/purchases";
import { type Payment, partReturned } from "@/lib/billing/stripe-charge";
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

/** Stores the state of a checkout with the credits that it gives or takes back. Returns false for an older reading. */
export async function settleCheckout(
  db: Db,
  buyer: Buyer,
  known: Checkout,
  read: string,
  payment: Payment | undefined,
  { event, nowMs }: Cause,
): Promise<boolean> {
  const state = known.state === "fulfilled" ? known.state : read;
  const isNew = state !== known.state && state === "fulfilled";
  const refunded = payment ? partReturned(known.thousandths, payment) : 0;
  const due = refunded - known.refunded_thousandths;
  const comesBack = payment?.dispute === "won" ? "dispute won" : "refund failed";
  const reason = due < 0 ? comesBack : payment?.dispute === "lost" ? "dispute lost" : "refunded";
  const what = due === 0 ? "credits" : `credits ${reason}`;
  const isStored = await changeAccount(db, buyer, what, nowMs, async (transaction, account) => {
    const current = await findCheckout(transaction, known.session_id);
    const isSame =
      current?.state === known.state && current.refunded_thousandths === known.refunded_thousandths;
    if (!isSame) return false;
    const write = async (thousandths: number, reason: string) => {
      const entry = { account_id: account.id, thousandths, reason };
      if (thousandths !== 0) await writeCreditEntry(transaction, entry, nowMs);
    };
    const given = isNew ? known.thousandths : 0;
    await write(given, "bought");
    const takenBefore = known.taken_thousandths ?? known.refunded_thousandths;
    const taken = due < 0 ? -Math.min(-due, takenBefore) : Math.min(due, account.credit_thousandths + given);
    await write(-taken, reason);
    if (due > taken && due > 0) {
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
    return true;
  });
  if (isStored && isNew) metrics()?.purchases.inc({ outcome: "fulfilled" });
  return isStored !== false;
}
