import type { Stripe } from "stripe";
import { type Buyer, keepCustomer, tellOnce } from "@/lib/billing/customer/purchases";
import { keepUnclaimed } from "@/lib/billing/customer/unclaimed-purchases";
import {
  callStripe,
  changeAtStripe,
  endAtStripe,
  findAtStripe,
  hasEnded,
  idOf,
  listAtStripe,
  removeAtStripe,
  StripeFailure,
} from "@/lib/billing/stripe/calls";
import { parseEmailAddress } from "@/lib/config/email-address";
import { settings } from "@/lib/config/settings";
import { recordAudit } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import { findCustomer, readBilling } from "@/lib/plans/purchases";
import { log } from "@/lib/runtime/log";

/** Stripe's id of an account's customer, which is made if there is none. Two requests at once get the same one. */
export async function ensureCustomer(
  db: Db,
  { id, email }: { id: string; email: string },
  key: string,
  nowMs: number,
): Promise<string> {
  const { customer_id: known = "" } = (await findCustomer(db, id)) ?? {};
  const atStripe = known && (await findAtStripe((stripe) => stripe.customers.retrieve(known)));
  if (atStripe && !atStripe.deleted) {
    await alignEmail(atStripe, email);
    return known;
  }
  // An earlier attempt may have made one, although its answer was a failure.
  const { data } = await callStripe((stripe) => stripe.customers.list({ email, limit: 100 }));
  const create = (attempt: string, told: { email?: string }) =>
    changeAtStripe(`${attempt}-${key}${known}`, (stripe, options) =>
      stripe.customers.create({ ...told, metadata: { account: id, email } }, options),
    );
  const { id: usable } =
    data.find(({ metadata }) => metadata.account === id) ??
    (await create("customer", { email }).catch((failure) => {
      // Stripe takes fewer emails than mail does. It then asks for one at Checkout.
      if (failure instanceof StripeFailure && failure.code === "email_invalid")
        return create("customer-without-email", {});
      throw failure;
    }));
  const kept = await keepCustomer(db, { accountId: id, customerId: usable, replaced: known }, nowMs);
  // Another request was first, or the account was deleted meanwhile: no email stays at Stripe for nothing.
  if (kept !== usable) await removeAtStripe((stripe) => stripe.customers.del(usable));
  if (!kept) throw new ApiError("forbidden");
  return kept;
}

/**
 * The customers at Stripe with an account's email, which may be another service's, and those whose metadata names the account:
 * a restored store knows neither. The list is never late; Search, which is, has also those with another address by now, and
 * some that were deleted.
 */
export async function* listCustomersOf({ id, email }: Buyer): AsyncGenerator<Stripe.Customer> {
  yield* listAtStripe((stripe, page) => stripe.customers.list({ ...page, email }));
  const query = `metadata['account']:'${id}'`;
  const search = (stripe: Stripe) => stripe.customers.search({ query, limit: 100 });
  const { data } = await callStripe(search).catch((failure) => {
    if (failure instanceof StripeFailure && failure.status === 400) return { data: [] }; // it is not in every country
    throw failure;
  });
  for (const found of data) {
    const customer = await findAtStripe((stripe) => stripe.customers.retrieve(found.id));
    if (customer && !customer.deleted) yield customer;
  }
}

/**
 * Tells Stripe an account's email when it has changed. The metadata has the one that we told last, so an address that the
 * owner prefers at Stripe stays. A customer that we did not make is left alone. Returns whether there is nothing to try again.
 */
export async function alignEmail(
  { id, email: there, metadata }: Pick<Stripe.Customer, "id" | "email" | "metadata">,
  email: string,
): Promise<boolean> {
  if (!metadata.account || (metadata.email ?? there) === email) return true;
  try {
    await callStripe((stripe) => stripe.customers.update(id, { email, metadata: { email } }));
    return true;
  } catch (failure) {
    log().warn({ err: failure, customer: id }, "a changed email did not reach Stripe");
    return failure instanceof StripeFailure && failure.code === "email_invalid"; // it takes fewer emails than mail does
  }
}

const maxToldAtOnce = 100;

/** Tells Stripe the emails that owners have changed here and that it does not know yet. Throws if Stripe is away. */
export async function tellChangedEmails(db: Db, nowMs: number): Promise<void> {
  const untold = await db
    .selectFrom("email_changes")
    .innerJoin("billing_customers", "billing_customers.account_id", "email_changes.account_id")
    .innerJoin("accounts", "accounts.id", "email_changes.account_id")
    .select(["email_changes.id", "customer_id", "email"])
    .where("changed_at_ms", "is not", null)
    .where("told_at_ms", "is", null)
    .orderBy("changed_at_ms")
    .limit(maxToldAtOnce)
    .execute();
  for (const { id, customer_id, email } of untold) {
    const customer = await findAtStripe((stripe) => stripe.customers.retrieve(customer_id));
    if (customer && !customer.deleted && !(await alignEmail(customer, email))) continue;
    await db.updateTable("email_changes").set({ told_at_ms: nowMs }).where("id", "=", id).execute();
  }
}

/** The audit's name for a deleted customer. Its entry has the checkouts that were fulfilled before. */
const customerDeletion = "customer deleted";

/**
 * Deletes an account's customer at Stripe, which ends its subscriptions there, and the checkouts that are open: an account
 * that is gone must not be charged. Of a customer that we did not make, only what was bought here is ended. Throws an
 * {@link ApiError} if that is not certain.
 */
export async function deleteCustomer(
  db: Db,
  of: "email" | "subject",
  value: string,
  nowMs: number,
): Promise<void> {
  const found = await db
    .selectFrom("billing_customers")
    .innerJoin("accounts", "accounts.id", "billing_customers.account_id")
    .select(["account_id", "customer_id"])
    .where(`accounts.${of}`, "=", value)
    .executeTakeFirst();
  if (!found) return;
  const { account_id, customer_id } = found;
  const checkouts = await db
    .selectFrom("billing_checkouts")
    .select(["session_id", "state"])
    .where("account_id", "=", account_id)
    .execute();
  try {
    for (const { session_id, state } of checkouts)
      if (session_id && state === "open") await endAtStripe(session_id);
    const customer = await findAtStripe((stripe) => stripe.customers.retrieve(customer_id));
    const isOurs = customer && !customer.deleted && customer.metadata.account;
    if (isOurs) await removeAtStripe((stripe) => stripe.customers.del(customer_id));
    const licences = db.selectFrom("billing_subscriptions").select("id").where("account_id", "=", account_id);
    const current = await licences.where("status", "not in", ["canceled", "incomplete_expired"]).execute();
    for (const { id } of current) {
      const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id));
      if (subscription && !hasEnded(subscription))
        await removeAtStripe((stripe) => stripe.subscriptions.cancel(id));
    }
  } catch (failure) {
    throw new ApiError("upstream_failed", {
      message: `The customer at Stripe could not be deleted, so nothing was changed here (${(failure as Error).message}).`,
      hint: "Try again when 'check' finds nothing wrong with billing.",
    });
  }
  const fulfilled = checkouts.flatMap(({ session_id, state }) => (state === "fulfilled" ? [session_id] : []));
  const about = { by: "service", what: customerDeletion, whom: customer_id } as const;
  await recordAudit(db, { ...about, after: { fulfilled } }, nowMs);
}

/**
 * Opens Stripe's billing portal for an account that has bought something. Returns its address.
 *
 * @param findFlow - what the owner is to do there; without it, or if Stripe refuses it, the portal's first page opens
 */
export async function openPortal(
  db: Db,
  { id, email }: { id: string; email: string },
  nowMs: number,
  findFlow?: () => Promise<Stripe.BillingPortal.SessionCreateParams.FlowData>,
): Promise<string> {
  if (!(await findCustomer(db, id)) || !(await readBilling(db, id)).hasBought)
    throw new ApiError("paid_only");
  try {
    const customer = await ensureCustomer(db, { id, email }, `portal-${id}-${nowMs}`, nowMs);
    await finalizeDrafts(db, id).catch((failure) =>
      log().warn({ err: failure }, "the last invoice of an unpaid licence could not be finalized"),
    );
    const return_url = `${settings().appUrl}${pages.billing.path}`;
    const create = async (flow_data?: Stripe.BillingPortal.SessionCreateParams.FlowData) =>
      callStripe((stripe) =>
        stripe.billingPortal.sessions.create({ customer, return_url, ...(flow_data && { flow_data }) }),
      );
    const inFlow = findFlow?.().then(create);
    const session = await inFlow?.catch((failure) =>
      log().warn({ err: failure }, "the billing portal opens without the change of a licence"),
    );
    return (session ?? (await create())).url;
  } catch (failure) {
    log().warn({ err: failure }, "the billing portal could not be opened");
    throw new ApiError("portal_failed");
  }
}

/**
 * Makes the last invoice of a licence that Stripe gave up payable, without a charge. Until it is paid, nothing goes on, but
 * Stripe only drafts the invoices of such a subscription, and its portal shows no drafts
 * (docs.stripe.com/billing/subscriptions/overview#unpaid-subscriptions). A draft that Stripe finalizes itself is left.
 */
async function finalizeDrafts(db: Db, accountId: string): Promise<void> {
  const unpaid = await db
    .selectFrom("billing_subscriptions")
    .select("id")
    .where("account_id", "=", accountId)
    .where("status", "=", "unpaid")
    .execute();
  const expand = ["latest_invoice"];
  for (const { id } of unpaid) {
    const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id, { expand }));
    const invoice = subscription?.status === "unpaid" ? subscription.latest_invoice : undefined;
    if (!invoice || typeof invoice === "string" || invoice.status !== "draft" || invoice.auto_advance)
      continue;
    const draft = invoice.id;
    if (draft) await callStripe((stripe) => stripe.invoices.finalizeInvoice(draft, { auto_advance: false }));
  }
}

type Bought = {
  id: string;
  customer: string | Stripe.Customer | Stripe.DeletedCustomer | null;
  metadata: Stripe.Metadata | null;
  customer_details?: Pick<Stripe.Checkout.Session.CustomerDetails, "email"> | null;
  created: number;
  /** What a checkout has made, which is a purchase of its own. */
  subscription?: unknown;
};

/**
 * Finds the account that a purchase is for, by the email if it was sold elsewhere or to an account that a restored store does
 * not have. Without any, the purchase is kept for an operator; if the account was deleted meanwhile, the audit says so.
 *
 * @param isOurs - whether its price is sold here: if not, and it names no account of ours, another service with the same Stripe
 * account has sold it, which may be a second deployment of this one
 * @param isCharged - whether someone pays for it, so that an operator has to refund it
 */
export async function resolveBuyer(
  db: Db,
  { id, customer, metadata, customer_details, created, subscription }: Bought,
  { isOurs, isCharged }: { isOurs: boolean; isCharged: boolean },
  nowMs: number,
): Promise<Buyer | undefined> {
  const customerId = customer ? idOf(customer) : "";
  const accounts = db.selectFrom("accounts").select(["accounts.id", "accounts.email"]);
  const known = await accounts
    .innerJoin("billing_customers", "billing_customers.account_id", "accounts.id")
    .where("customer_id", "=", customerId)
    .executeTakeFirst();
  const whole = customer && typeof customer === "object" ? customer : undefined;
  const email = whole?.deleted
    ? undefined
    : (whole?.metadata.email ?? whole?.email ?? customer_details?.email);
  const parsed = parseEmailAddress(email ?? "");
  const waiting = db.selectFrom("billing_unclaimed").select("id").where("id", "=", id);
  const mayBeOurs = isOurs || (await hasRow(waiting)); // it stays ours when its price is sold no more
  const byEmail = mayBeOurs ? accounts.where("accounts.email", "=", parsed ?? "") : undefined;
  const buyer =
    known ??
    (await accounts.where("accounts.id", "=", metadata?.account ?? "").executeTakeFirst()) ??
    (await byEmail?.executeTakeFirst());
  if (buyer && !known && customerId) await keepCustomer(db, { accountId: buyer.id, customerId }, nowMs);
  if (buyer || !isCharged || !mayBeOurs)
    await db.deleteFrom("billing_unclaimed").where("id", "=", id).execute();
  else if (email && !subscription) {
    const wanted = parsed ?? email.trim().toLowerCase();
    await keepUnclaimed(db, { id, email: wanted, created_at_ms: created * 1000 });
  } else if (!email && metadata?.account && !(await wasGiven(db, customerId, id)))
    await tellOnce(db, { what: "purchase without account", whom: id, after: { given: "nothing" } }, nowMs);
  return buyer;
}

async function wasGiven(db: Db, customerId: string, checkout: string): Promise<boolean> {
  const entries = db.selectFrom("audit_entries").select("after").where("whom", "=", customerId);
  const rows = await entries.where("what", "=", customerDeletion).execute();
  return rows.some(({ after }) => after?.includes(JSON.stringify(checkout)));
}
