import { Option } from "commander";
import { findAccount } from "@/lib/accounts/accounts";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { exportBilling } from "@/lib/accounts/leaving/person";
import {
  type CustomerFilter,
  customerFilters,
  listCustomers,
  toCustomerRows,
} from "@/lib/accounts/list/customer-list";
import { parseCount, parseWords } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines, asTable, type Listing } from "@/lib/admin/print";
import { describeUnclaimed, listUnclaimed } from "@/lib/billing/customer/unclaimed-purchases";
import { reconcile } from "@/lib/billing/reconciler";
import { requireBilling } from "@/lib/billing/stripe/calls";
import { moneyAsDecimal } from "@/lib/config/money";
import type { Db } from "@/lib/db/store";

type Purchases = Awaited<ReturnType<typeof exportBilling>>;

/** The customer, then tables of the subscriptions, the checkouts and the payments: what an operator is asked about. */
function describePurchases({ customer, subscriptions, checkouts, payments }: Purchases): string {
  const choose = (rows: Record<string, unknown>[], ...names: string[]) =>
    rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
  const sum = (amount: unknown, currency: unknown) =>
    amount ? `${moneyAsDecimal(Number(amount), String(currency))} ${String(currency).toUpperCase()}` : null;
  const periods = ["id", "status", "priceId", "periodEnds", "unpaidSince", "endsAt", "due", "lastEvent"];
  const withDue = (row: Record<string, unknown>) => ({ ...row, due: sum(row.amountDue, row.currency) });
  const sales = ["sessionId", "kind", "state", "priceId", "createdAt", "lastEvent", "credits", "refunded"];
  const withCredits = (row: Record<string, unknown>) => ({
    ...row,
    ...(row.kind === "credits" && {
      credits: toCredits(Number(row.thousandths)),
      refunded: toCredits(Number(row.refundedThousandths)),
    }),
  });
  const paid = ["paidAt", "bought", "amount", "returned", "dispute", "id"];
  const inCurrency = (row: Record<string, unknown>) => ({
    ...row,
    amount: sum(row.amount, row.currency),
    returned: sum(row.returned, row.currency),
  });
  return [
    customer ? asLines(customer) : "No customer at Stripe.",
    asTable(choose(subscriptions.map(withDue), ...periods), "No subscriptions."),
    asTable(choose(checkouts.map(withCredits), ...sales), "No checkouts."),
    asTable(choose(payments.map(inCurrency), ...paid), "No payments."),
  ].join("\n\n");
}

type ListOptions = { filter?: CustomerFilter; find?: string; limit?: number; csv?: true };

function list(db: Db, { filter, find: text, limit, csv }: ListOptions): Listing {
  async function* pages() {
    for await (const page of listCustomers(db, { filter, text, maxRows: limit }, Date.now()))
      yield page.flatMap(toCustomerRows);
  }
  const toRow = (row: Record<string, unknown>) => {
    const { email, customer, state, licence, unpaidSince, periodEnds, due, currency, paid, returned } = row;
    return { email, customer, state, licence, unpaidSince, periodEnds, due, currency, paid, returned };
  };
  return { pages: pages(), toRow, asCsv: csv, whenEmpty: "No customers found." };
}

/** `billing list|show|reconcile`. */
export function addBillingCommands(program: AdminCommand): void {
  const billing = program.command("billing").description("what was bought at Stripe");

  billing
    .add(
      "list",
      "list the customers, newest first: their state, and what they have paid in each currency",
      "billing list --filter past-due",
      "billing list --find @example.com --csv",
    )
    .addOption(new Option("--filter <state>", "only these customers").choices(Object.keys(customerFilters)))
    .option(
      "--find <text>",
      "only emails that contain this text, or the customer with this id at Stripe (cus_, sub_, cs_)",
      parseWords,
    )
    .option("--limit <n>", "the maximum number of customers", parseCount)
    .option("--csv", "print CSV: a row for each customer and currency")
    .does(async ({ db }, options: ListOptions) => list(db, options));

  billing
    .add(
      "show <email>",
      "show the customer at Stripe, the subscriptions, checkouts and payments of an account",
    )
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
