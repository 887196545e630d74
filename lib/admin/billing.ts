import type { Command } from "commander";
import { findAccount } from "@/lib/accounts/accounts";
import { exportBilling } from "@/lib/accounts/person";
import { parseEmail, type Run, withExamples } from "@/lib/admin/command";
import { toJson } from "@/lib/admin/print";
import { reconcile } from "@/lib/billing/reconciler";
import { requireBilling } from "@/lib/billing/stripe";

/** `billing show|reconcile`. */
export function addBillingCommands(program: Command, run: Run): void {
  const billing = program.command("billing").description("what was bought at Stripe");

  withExamples(billing.command("show"), "billing show ceo@example.com")
    .description("show the customer at Stripe, the subscriptions and the checkouts of an account")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const json = await exportBilling(db, (await findAccount(db, email)).id);
        return { json, text: toJson(json) };
      }),
    );

  withExamples(billing.command("reconcile"), "billing reconcile", "billing reconcile ceo@example.com")
    .description("read at Stripe what is not settled, or all that one account has bought, and fulfil it")
    .argument("[email]", "", parseEmail)
    .action(
      run(async (db, email: string | undefined) => {
        requireBilling();
        const account = email === undefined ? {} : { accountId: (await findAccount(db, email)).id };
        const json = await reconcile(db, Date.now(), account);
        const { read, failed } = json;
        if (failed > 0) process.exitCode = 1;
        return { json, text: `Read ${read} at Stripe, ${failed} of them without success.` };
      }),
    );
}
