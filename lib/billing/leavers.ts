import { erasePerson } from "@/lib/accounts/erasure";
import { findLeaver, listLeavers } from "@/lib/accounts/leaving";
import { deleteCustomer } from "@/lib/billing/customer";
import type { Db } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";

const maxAtOnce = 100;

/**
 * Erases the owners whose day of grace has ended: the customer at Stripe first, which ends a licence there. While Stripe is
 * away, an account stays as it is and is tried again.
 */
export async function eraseLeavers(db: Db, nowMs: number): Promise<void> {
  for (const id of await listLeavers(db, nowMs, maxAtOnce)) {
    try {
      // Read again: while others were erased, the address may have passed to another account.
      const email = await findLeaver(db, id, nowMs);
      if (email === undefined) continue;
      await deleteCustomer(db, "email", email, nowMs);
      await erasePerson(db, email, nowMs, "owner");
      log().info("an account was deleted, as its owner had asked");
    } catch (failure) {
      log().warn({ err: failure, account: id }, "an account could not be deleted yet; it is tried again");
    }
  }
}
