import { findAccount } from "@/lib/accounts/accounts";
import { toCredits } from "@/lib/accounts/ledger";
import { exportBilling } from "@/lib/accounts/person";
import { describeUnclaimed, listUnclaimed } from "@/lib/accounts/unclaimed-purchases";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines, asTable } from "@/lib/admin/print";
import { reconcile } from "@/lib/billing/reconciler";
import { requireBilling } from "@/lib/billing/stripe";

type Purchases = Awaited<ReturnType<typeof exportBilling>>;

/** The customer, then a table of the subscriptions and one of the checkouts: what an operator is asked about. */
function describePurchases({ customer, subscriptions, checkouts }: Purchases): string {
  const choose = (rows: Record<string, unknown>[], ...names: string[]) =>
    rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
  const periods = ["id", "status", "priceId", "periodEnds", "unpaidSince", "endsAt", "lastEvent"];
  const sales = ["sessionId", "kind", "state", "priceId", "createdAt", "lastEvent"];
  const withCredits = (row: Record<string, unknown>) => ({
    ...row,
    credits: toCredits(Number(row.thousandths)),
    refunded: toCredits(Number(row.refundedThousandths)),
  });
  return [
    customer ? asLines(customer) : "No customer at Stripe.",
    asTable(choose(subscriptions, ...periods), "No subscriptions."),
    asTable(choose(checkouts.map(withCredits), ...sales, "credits", "refunded"), "No checkouts."),
  ].join("\n\n");
}

/** `billing show|reconcile`. */
export function addBillingCommands(program: AdminCommand): void {
  const billing = program.command("billing").description("what was bought at Stripe");

  billing
    .add("show <email>", "show the customer at Stripe, the subscriptions and the checkouts of an account")
    .does(async ({ db }, email: string) => {
      const json = await exportBilling(db, (await findAccount(db, email)).id);
      return { json, text: describePurchases(json) };
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
