import { findAccount } from "@/lib/accounts/accounts";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { exportBilling } from "@/lib/accounts/leaving/person";
import {
  type CustomerFilter,
  customerFilters,
  listCustomers,
  toCustomerRows,
} from "@/lib/accounts/list/customer-list";
import { option, shellAct } from "@/lib/admin/act";
import { parseCount, parseWords } from "@/lib/admin/arguments";
import { asLines, asTable, type Listing } from "@/lib/admin/print";
import { describeUnclaimed, listUnclaimed } from "@/lib/billing/customer/unclaimed-purchases";
import { reconcile } from "@/lib/billing/reconciler";
import { moneyAsDecimal } from "@/lib/config/money";
import type { Db } from "@/lib/db/store";
import { requireBilling } from "@/lib/http/checks/billing";

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

export const billingActs = {
  list: shellAct({
    usage: "list",
    words: "list the customers, newest first: their state, and what they have paid in each currency",
    examples: ["billing list --filter past-due", "billing list --find @example.com --csv"],
    fields: {
      filter: {
        option: "--filter <state>",
        words: "only these customers",
        choices: Object.keys(customerFilters),
      },
      find: option(
        "--find <text>",
        "only emails that contain this text, or the customer with this id at Stripe (cus_, sub_, cs_)",
        parseWords,
      ),
      limit: option("--limit <n>", "the maximum number of customers", parseCount),
      csv: { option: "--csv", words: "print CSV: a row for each customer and currency" },
    },
    run: async ({ db }, options: ListOptions) => list(db, options),
  }),
  show: shellAct({
    usage: "show <email>",
    words: "show the customer at Stripe, the subscriptions, checkouts and payments of an account",
    async run({ db }, { email }: { email: string }) {
      const json = await exportBilling(db, (await findAccount(db, email)).id);
      return { json, text: describePurchases(json) };
    },
  }),
  reconcile: shellAct({
    usage: "reconcile [email]",
    words: "read at Stripe what is not settled, or all that one account has bought, and fulfil it",
    examples: ["billing reconcile", "billing reconcile ceo@example.com"],
    async run({ db, nowMs }, { email }: { email?: string }) {
      requireBilling();
      const json = await reconcile(
        db,
        nowMs,
        email === undefined ? {} : { buyer: await findAccount(db, email) },
      );
      const { read, failed } = json;
      const text = `Read ${read} at Stripe, ${failed} of them without success.`;
      const lines = [text, ...(await listUnclaimed(db)).map(describeUnclaimed)];
      return { json, text: lines.join("\n"), isFailure: failed > 0 };
    },
  }),
};
