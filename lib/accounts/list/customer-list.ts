import { type InferResult, sql } from "kysely";
import { parseAccount } from "@/lib/accounts/account";
import { contains } from "@/lib/accounts/accounts";
import { asIso } from "@/lib/config/instants";
import { moneyAsDecimal } from "@/lib/config/money";
import { paginate } from "@/lib/db/pagination";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import type { Db } from "@/lib/db/store";
import { accountsOwing, currentLicence, licenceStateOf, selectLicences } from "@/lib/plans/licence-state";
import { standingOf } from "@/lib/plans/standing";

/** What finance and support look for, and how it is called. */
export const customerFilters = {
  "past-due": "Payment due",
  unpaid: "Not paid",
  unfinished: "Not paid yet",
  paused: "Paused",
  ending: "Ending",
  refunded: "Refunded",
  disputed: "Disputed",
  unknown: "Plan unknown",
} as const;

export type CustomerFilter = keyof typeof customerFilters;

export const isCustomerFilter = (text: string | undefined): text is CustomerFilter =>
  text !== undefined && Object.hasOwn(customerFilters, text);

/** The query of the accounts in a filter, once for each of their subscriptions or payments in it. */
function accountsIn(db: Db, filter: CustomerFilter, nowMs: number) {
  const subscriptions = db.selectFrom("billing_subscriptions").select("account_id");
  const payments = db.selectFrom("billing_payments").select("account_id");
  switch (filter) {
    case "past-due":
      return accountsOwing(db).where("licence_until_ms", ">", 0);
    case "unpaid":
      return accountsOwing(db).where("licence_until_ms", "=", 0);
    case "unfinished":
      return subscriptions.where("status", "=", "incomplete");
    case "paused":
      return subscriptions.where(({ or, eb }) =>
        or([eb("status", "=", "paused"), eb("status_reason", "=", "collection")]),
      );
    case "ending":
      return subscriptions
        .where("status", "in", ["active", "trialing"])
        .where("licence_until_ms", ">", 0)
        .where("ends_at_ms", ">", nowMs);
    case "refunded":
      return payments
        .where("returned", ">", 0)
        .where(sql`returned`, ">", sql`0`) // as in the partial index
        .where(({ or, eb }) => or([eb("dispute", "is", null), eb("dispute", "<>", "lost")]));
    case "disputed":
      return payments.where("dispute", "is not", null);
    case "unknown":
      return subscriptions.where("status", "=", "gone");
  }
}

/** The filters that a customer is in by the licence that counts and by all payments, as {@link accountsIn} has it. */
function filtersOf(
  licence: LicenceRow | undefined,
  sums: { refunds: number; disputes: number }[],
  nowMs: number,
): CustomerFilter[] {
  const { status = "", status_reason = null, licence_until_ms = 0, ends_at_ms = null } = licence ?? {};
  const isOwing = status === "past_due" || status === "unpaid";
  const runs = licence_until_ms > 0;
  const isIn: Record<CustomerFilter, boolean> = {
    "past-due": isOwing && runs,
    unpaid: isOwing && !runs,
    unfinished: status === "incomplete",
    paused: status === "paused" || status_reason === "collection",
    ending: ["active", "trialing"].includes(status) && runs && (ends_at_ms ?? 0) > nowMs,
    refunded: sums.some(({ refunds }) => refunds > 0),
    disputed: sums.some(({ disputes }) => disputes > 0),
    unknown: status === "gone",
  };
  return (Object.keys(isIn) as CustomerFilter[]).filter((filter) => isIn[filter]);
}

type LicenceRow = InferResult<ReturnType<typeof selectLicences>>[number];

/** The query of how many customers are in a filter. */
export function countCustomers(db: Db, filter: CustomerFilter, nowMs: number) {
  return db
    .selectFrom(accountsIn(db, filter, nowMs).distinct().as("found"))
    .select(sql<number>`count(*)`.as("count"));
}

export type CustomerSearch = {
  filter?: CustomerFilter | undefined;
  /** A part of an email, or Stripe's id of a customer or of what it has bought. */
  text?: string | undefined;
  /** The customer before the first one: the list is newest first. */
  after?: { since_ms: number; id: string } | undefined;
};

function selectCustomers(db: Db, { filter, text, after }: CustomerSearch, nowMs: number) {
  let query = db
    .selectFrom("billing_customers as customer")
    .innerJoin("accounts", "accounts.id", "customer.account_id")
    .selectAll("accounts")
    .select(["customer_id", "customer.created_at_ms as since_ms"])
    .orderBy("customer.created_at_ms", "desc")
    .orderBy("customer.account_id", "desc");
  if (filter) query = query.where("customer.account_id", "in", accountsIn(db, filter, nowMs));
  const bought = text && accountsWithStripeId(db, text);
  if (bought) query = query.where("customer.account_id", "in", bought);
  else if (text) query = query.where(contains("email", text));
  if (!after) return query;
  return query.where(({ eb, refTuple, tuple }) =>
    eb(refTuple("customer.created_at_ms", "customer.account_id"), "<", tuple(after.since_ms, after.id)),
  );
}

/** The query of the account of an object at Stripe, by the kind of its id; `undefined` for what is no such id. */
export function accountsWithStripeId(db: Db, id: string) {
  const [, kind] = /^(cus|sub|cs|in|ch|py)_\w+$/.exec(id) ?? [];
  switch (kind) {
    case "cus":
      return db.selectFrom("billing_customers").select("account_id").where("customer_id", "=", id);
    case "sub":
      return db.selectFrom("billing_subscriptions").select("account_id").where("id", "=", id);
    case "cs":
      return db.selectFrom("billing_checkouts").select("account_id").where("session_id", "=", id);
    case "in":
      return db.selectFrom("billing_subscriptions").select("account_id").where("invoice_id", "=", id);
    case "ch":
    case "py":
      return db.selectFrom("billing_payments").select("account_id").where("id", "=", id);
    default:
      return undefined;
  }
}

/** What a customer has paid in a currency, in its smallest unit, and when the first payment that counts was made. */
export type Sum = { currency: string; paid: number; returned: number; first_ms: number };

export type Customer = Awaited<ReturnType<typeof readCustomers>>[number];

/** Reads a page of customers, newest first. Nothing is asked of Stripe: payments count once they were read there. */
export async function readCustomers(db: Db, search: CustomerSearch, most: number, nowMs: number) {
  const rows = await selectCustomers(db, search, nowMs).limit(most).execute();
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const { subscriptions, sums } = await readInOneQuery(db, {
    subscriptions: selectLicences(db).where("account_id", "in", ids),
    sums: db
      .selectFrom("billing_payments")
      .select(({ fn }) => [
        "account_id",
        "currency",
        fn.sum<number>("amount").as("paid"),
        fn.sum<number>("returned").as("returned"),
        fn.min<number>("paid_at_ms").as("first_ms"),
        fn.count<number>("dispute").as("disputes"),
        fn
          .countAll<number>()
          .filterWhere("returned", ">", 0)
          .filterWhere(({ or, eb }) => or([eb("dispute", "is", null), eb("dispute", "<>", "lost")]))
          .as("refunds"),
      ])
      .where("account_id", "in", ids)
      .groupBy(["account_id", "currency"])
      .orderBy("currency"),
  });
  return rows.map((row) => {
    const subscription = currentLicence(subscriptions.filter(({ account_id }) => account_id === row.id));
    const { tag: state, light } = standingOf(parseAccount(row, nowMs), subscription, nowMs);
    const ofOwn = sums.filter(({ account_id }) => account_id === row.id);
    return {
      id: row.id,
      email: row.email,
      customerId: row.customer_id,
      since_ms: row.since_ms,
      state,
      light,
      licence: subscription ? licenceStateOf(subscription) : null,
      subscription,
      filters: filtersOf(subscription, ofOwn, nowMs),
      sums: ofOwn,
    };
  });
}

/** All customers of a search, page by page. */
export function listCustomers(
  db: Db,
  { maxRows, ...search }: CustomerSearch & { maxRows?: number | undefined },
  nowMs: number,
) {
  return paginate<Customer>(
    (last, limit) => readCustomers(db, { ...search, after: last ?? search.after }, limit, nowMs),
    maxRows,
  );
}

/** The rows of a customer in CSV and JSON: one for each currency that was paid in, because amounts of two are no sum. */
export function toCustomerRows({ email, customerId, state, licence, subscription, sums }: Customer) {
  const customer = {
    email,
    customer: customerId,
    state,
    licence,
    subscription: subscription?.id ?? null,
    price: subscription?.price_id ?? null,
    periodEnds: asIso(subscription?.period_ends_ms),
    unpaidSince: asIso(subscription?.unpaid_since_ms),
    licenceEnds: asIso(subscription?.ends_at_ms),
    due:
      subscription?.amount_due && subscription.currency
        ? `${moneyAsDecimal(subscription.amount_due, subscription.currency)} ${subscription.currency.toUpperCase()}`
        : null,
  };
  return (sums.length > 0 ? sums : [undefined]).map((sum) => {
    const asDecimal = (amount: number) => sum && moneyAsDecimal(amount, sum.currency);
    const { paid = 0, returned = 0 } = sum ?? {};
    return {
      ...customer,
      currency: sum?.currency.toUpperCase() ?? null,
      paid: asDecimal(paid) ?? null,
      returned: asDecimal(returned) ?? null,
      kept: asDecimal(paid - returned) ?? null,
      firstPayment: asIso(sum?.first_ms),
    };
  });
}
