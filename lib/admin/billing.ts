import { findAccount } from "@/lib/accounts/accounts";
import { exportBilling } from "@/lib/accounts/person";
import { describeUnclaimed, listUnclaimed } from "@/lib/accounts/unclaimed-purchases";
import type { AdminCommand } from "@/lib/admin/command";
import { toJson } from "@/lib/admin/print";
import { reconcile } from "@/lib/billing/reconciler";
import { requireBilling } from "@/lib/billing/stripe";

/** `billing show|reconcile`. */
export function addBillingCommands(program: AdminCommand): void {
  const billing = program.command("billing").description("what was bought at Stripe");

  billing
    .add("show <email>", "show the customer at Stripe, the subscriptions and the checkouts of an account")
    .does(async ({ db }, email: string) => {
      const json = await exportBilling(db, (await findAccount(db, email)).id);
      return { json, text: toJson(json) };
    });

  billing
    .add(
      "reconcile [email]",
      "read at Stripe what is not settled, or all that one account has bought, and fulfil it",
      "billing reconcile",
      "billing reconcile ceo@example.com",
    )
    .does(async ({ db }, email: string | undefined) => {
      requireBilling();
      const json = await reconcile(
        db,
        Date.now(),
        email === undefined ? {} : { buyer: await findAccount(db, email) },
      );
      const { read, failed } = json;
      if (failed > 0) process.exitCode = 1;
      const text = `Read ${read} at Stripe, ${failed} of them without success.`;
      return { json, text: [text, ...(await listUnclaimed(db)).map(describeUnclaimed)].join("\n") };
    });
}
