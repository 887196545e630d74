import { erasePerson } from "@/lib/accounts/leaving/erasure";
import { dueLeavers, whoAsked } from "@/lib/accounts/leaving/leaving";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import type { Db } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";

const maxAtOnce = 100;

/** Erases the owners whose day of grace has ended, at Stripe first. While Stripe is away, they are tried again. */
export async function eraseLeavers(db: Db, nowMs: number): Promise<void> {
  const leavers = await dueLeavers(db, nowMs).orderBy("deletes_at_ms").limit(maxAtOnce).execute();
  for (const { id } of leavers) {
    try {
      // Read again: while others were erased, the address may have passed to another account.
      const leaver = await dueLeavers(db, nowMs).where("id", "=", id).executeTakeFirst();
      if (!leaver) continue;
      await deleteCustomer(db, "email", leaver.email, nowMs);
      await erasePerson(db, leaver.email, await whoAsked(db, leaver), nowMs);
      log().info("an account was deleted, as was asked a day ago");
    } catch (failure) {
      log().warn({ err: failure, account: id }, "an account could not be deleted yet; it is tried again");
    }
  }
}
