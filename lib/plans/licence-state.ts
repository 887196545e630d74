import { type ExpressionBuilder, sql } from "kysely";
import { priceInWords } from "@/lib/config/money";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import {
  type AccountEnd,
  isDue,
  isNotBegun,
  type LicenceEnd,
  type LicenceState,
} from "@/lib/plans/entitlement-words";

/** A licence from Stripe, as it was last read. */
export type Licence = Pick<
  Tables["billing_subscriptions"],
  "status" | "status_reason" | "ends_at_ms" | "period_ends_ms" | "unpaid_since_ms" | "licence_until_ms"
> & { plan_before?: string | null };

/** Whether an operator gives a licence as well. */
export const isBesideGift = ({ plan_before }: Licence) => plan_before === "licensed";

/** What an operator gives the account of a subscription, next to its columns. */
export const planBefore = ({ selectFrom }: ExpressionBuilder<Tables, "billing_subscriptions">) =>
  selectFrom("billing_customers")
    .select("plan_before")
    .whereRef("billing_customers.account_id", "=", "billing_subscriptions.account_id")
    .as("plan_before");

/** The query of subscriptions with what their words are made of. */
export const selectLicences = (db: Db) =>
  db
    .selectFrom("billing_subscriptions")
    .select(["account_id", "id", "status", "status_reason", "price_id", "created_at_ms", "period_ends_ms"])
    .select(["unpaid_since_ms", "ends_at_ms", "licence_until_ms", "amount_due", "currency", "open_invoices"])
    .select(planBefore);

/** The query of the accounts that owe a payment, once for each licence that is not paid. */
export const accountsOwing = (db: Db) =>
  db
    .selectFrom("billing_subscriptions")
    .select("account_id")
    .where(sql`status`, "in", sql`('past_due', 'unpaid')`); // as in the partial index

/** What is due of a subscription, where it was read. */
export type Due = Partial<Pick<Tables["billing_subscriptions"], "amount_due" | "currency" | "open_invoices">>;

/** What is due of a subscription, for example `€98 in 2 invoices`; `undefined` if nothing is. */
export function describeDue(
  { amount_due, currency, open_invoices }: Due,
  inWords = priceInWords,
): string | undefined {
  if (!amount_due || !currency) return undefined;
  const sum = inWords(amount_due, currency);
  return (open_invoices ?? 1) > 1 ? `${sum} in ${open_invoices} invoices` : sum;
}

/** How a licence goes on, or how it ended. */
export function licenceStateOf(licence: Licence): LicenceState {
  const { status, status_reason, ends_at_ms } = licence;
  if (licence.licence_until_ms === 0) return endStateOf(licence);
  if (status === "gone") return "unknown";
  if (status === "paused") return "pausing";
  if (status === "past_due" || status === "unpaid") {
    if (isBesideGift(licence)) return "due beside a gift";
    if (status_reason === "change") return "change unpaid";
    if (status_reason === "bank") return "paying";
    return status_reason === "invoice" ? "overdue" : status_reason === "trial" ? "trial unpaid" : "past due";
  }
  if (ends_at_ms !== null) return "cancelled";
  if (status_reason === "collection") return "not collected";
  if (status_reason === "invoice") return "invoiced";
  return status === "trialing" ? "free" : "renews";
}

/** The day by which a licence is paid, or on which it or what is free of it ends; null of one that goes on. */
export function paymentDay(licence: Licence): number | null {
  const state = licenceStateOf(licence);
  if (state === "renews" || state === "not collected") return null;
  const { ends_at_ms, period_ends_ms, unpaid_since_ms } = licence;
  return state === "invoiced" ? unpaid_since_ms : (ends_at_ms ?? period_ends_ms);
}

/** How a licence ended that does not run. */
export function endStateOf({ status, status_reason }: Licence): LicenceEnd {
  // Of one that is cancelled too, its owner has nothing to do.
  if (status === "refunded") return status_reason === "cancelled" ? "ended" : "returned";
  if (status === "incomplete") return status_reason === "bank" ? "at bank" : "unfinished";
  if (status_reason === "trial") return "trial over";
  if (status === "paused") return "paused";
  if (status !== "past_due" && status !== "unpaid") return "ended";
  return status_reason === "bank" ? "late at bank" : "unpaid";
}

/** Whether someone has to pay, or to go on with a licence, before all is well. */
export const wantsPayment = (state: LicenceState) =>
  isDue(state) || ["due beside a gift", "unpaid", "unfinished", "pausing", "paused"].includes(state);

const hasEnded = ({ status }: Licence) => ["canceled", "incomplete_expired", "gone"].includes(status);

/** Whether the first payment of a subscription is missing, and may never come. */
export const hasNeverBegun = ({ status }: Licence) => ["incomplete", "incomplete_expired"].includes(status);

/** Whether a subscription gives nothing and asks for nothing now, so that another licence may take its place. */
export const isReplaceable = ({ status, status_reason, licence_until_ms }: Licence) =>
  licence_until_ms === 0 && status !== "past_due" && status !== "unpaid" && status_reason !== "bank";

/** The subscriptions that have not ended at Stripe. */
export const liveOf = <Row extends Licence>(subscriptions: Row[]) =>
  subscriptions.filter((one) => !hasEnded(one));

/** The licence that counts: the one that runs longest, of those that have not ended if there are any. */
export function currentLicence<Row extends Licence>(subscriptions: Row[]): Row | undefined {
  const longest = subscriptions.toSorted((one, other) => other.licence_until_ms - one.licence_until_ms);
  return liveOf(longest)[0] ?? longest[0];
}

/** What ended last of an account that may not run: a licence counts if it ended after the trial. */
export function endOf(
  account: { plan: string; trial_ends_at_ms: number | null } | undefined,
  licence: Licence | undefined,
): AccountEnd {
  const atMs = licence?.ends_at_ms ?? 0;
  const trialEndsAtMs = (account?.plan === "trial" && account.trial_ends_at_ms) || 0;
  const how = licence && endStateOf(licence);
  if (how && isNotBegun(how)) return { what: "trial", beside: how };
  if (!how || atMs <= trialEndsAtMs || licence?.status === "incomplete_expired")
    return { what: "trial", atMs: trialEndsAtMs };
  return { what: "licence", atMs, how };
}
