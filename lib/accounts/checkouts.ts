import { randomUUID } from "node:crypto";
import type { Insertable, Selectable } from "kysely";
import { writeCreditEntry } from "@/lib/accounts/ledger";
import { type Buyer, type Cause, changeAccount } from "@/lib/accounts/purchases";
import { recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { metrics } from "@/lib/runtime/metrics";

/* What we store of checkouts at Stripe, and the credits that they give. */

export type Checkout = Selectable<Tables["billing_checkouts"]>;
export type Sale = Pick<Checkout, "kind" | "price_id" | "thousandths">;

/** Returns the account's open checkout of this kind, or begins one. */
export async function openCheckout(db: Db, accountId: string, sale: Sale, nowMs: number): Promise<Checkout> {
  const shared = { account_id: accountId, kind: sale.kind, state: "open" };
  const open = await db
    .selectFrom("billing_checkouts")
    .selectAll()
    .where((row) => row.and(shared))
    .executeTakeFirst();
  if (open) return open;
  const begun = await db
    .insertInto("billing_checkouts")
    .values({ id: randomUUID(), ...sale, ...shared, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (begun) metrics()?.purchases.inc({ outcome: "begun" });
  return begun ?? openCheckout(db, accountId, sale, nowMs);
}

/** Ends a checkout that no one can pay, so that the next one is a new one. */
export async function giveUp(
  db: Db,
  { id, session_id }: Checkout,
  state: "expired" | "failed",
): Promise<void> {
  const open = db
    .updateTable("billing_checkouts")
    .set({ state })
    .where("id", "=", id)
    .where("state", "=", "open");
  await open.where("session_id", session_id ? "=" : "is", session_id).execute();
}

export function findCheckout(db: Db, session: string | null): Promise<Checkout | undefined> {
  return db.selectFrom("billing_checkouts").selectAll().where("session_id", "=", session).executeTakeFirst();
}

/** Stores a checkout that a store that was restored from a backup does not have. */
export async function keepCheckout(db: Db, row: Insertable<Tables["billing_checkouts"]>): Promise<Checkout> {
  const adding = db.insertInto("billing_checkouts").values(row);
  await adding.onConflict((conflict) => conflict.doNothing()).execute();
  const kept = await findCheckout(db, row.session_id ?? null);
  if (!kept) throw new Error("a checkout could not be stored");
  return kept;
}

/** What Stripe reports of a checkout: its state, if it is not open, and the part of its payment that was returned. */
export type CheckoutReading = {
  known: Checkout;
  state: string | undefined;
  share: number;
  isDisputeLost: boolean;
};

/** Stores the state of a checkout with the credits that it gives or takes back. Returns false for an older reading. */
export async function settleCheckout(
  db: Db,
  buyer: Buyer,
  { known, isDisputeLost, share, ...reading }: CheckoutReading,
  { event, nowMs }: Cause,
): Promise<boolean> {
  const state = known.state === "fulfilled" ? known.state : (reading.state ?? known.state);
  const isNew = state !== known.state && state === "fulfilled";
  const refunded = Math.floor(known.thousandths * share);
  const due = refunded - known.refunded_thousandths;
  const reason = due < 0 ? "refund failed" : isDisputeLost ? "dispute lost" : "refunded";
  const what = due === 0 ? "credits" : `credits ${reason}`;
  const isStored = await changeAccount(db, buyer, what, nowMs, async (transaction, account) => {
    const current = await findCheckout(transaction, known.session_id);
    const isSame =
      current?.state === known.state && current.refunded_thousandths === known.refunded_thousandths;
    if (!isSame) return false;
    const write = async (thousandths: number, reason: string) => {
      const entry = { accountId: account.id, thousandths, reason };
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
