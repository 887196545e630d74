import type { Stripe } from "stripe";
import { type Buyer, findCustomer, keepCustomer, readBilling, tellOnce } from "@/lib/accounts/purchases";
import { changeAtStripe, expireSession, findAtStripe, idOf, readAtStripe } from "@/lib/billing/stripe";
import { settings } from "@/lib/config/settings";
import { recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";

/**
 * Stripe's id of the account's customer, which is made on first use, and again if someone deleted it at Stripe. Two
 * requests at once get the same one.
 */
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
  const { data } = await readAtStripe((stripe) => stripe.customers.list({ email, limit: 100 }));
  const { id: usable } =
    data.find(({ metadata }) => metadata.account === id) ??
    (await changeAtStripe(`customer-${key}${known}`, (stripe, options) =>
      stripe.customers.create({ email, metadata: { account: id, email } }, options),
    ));
  const kept = await keepCustomer(db, id, usable, nowMs, known);
  // Another request was first, or the account was deleted meanwhile: no email stays at Stripe for nothing.
  if (kept !== usable) await findAtStripe((stripe) => stripe.customers.del(usable));
  if (!kept) throw new ApiError("forbidden");
  return kept;
}

/**
 * Tells Stripe an account's email when it has changed. The metadata has the one that we told last, so an address that the
 * owner prefers at Stripe stays.
 */
export async function alignEmail(
  { id, email: there, metadata }: Pick<Stripe.Customer, "id" | "email" | "metadata">,
  email: string,
): Promise<void> {
  if ((metadata.email ?? there) === email) return;
  try {
    await readAtStripe((stripe) => stripe.customers.update(id, { email, metadata: { email } }));
  } catch (failure) {
    log().warn({ err: failure, customer: id }, "a changed email did not reach Stripe");
  }
}

/** The audit's name for a deleted customer. Its entry has the checkouts that were fulfilled before. */
const customerDeletion = "customer deleted";

/**
 * Deletes an account's customer at Stripe, which ends its subscriptions there, and the checkouts that are open: an account
 * that is gone must not be charged. Throws an {@link ApiError} if that is not certain.
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
      if (session_id && state === "open") await expireSession(session_id);
    await findAtStripe((stripe) => stripe.customers.del(customer_id));
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
    const return_url = `${settings().appUrl}${pages.billing.path}`;
    const create = async (flow_data?: Stripe.BillingPortal.SessionCreateParams.FlowData) =>
      readAtStripe((stripe) =>
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

type Bought = {
  id: string;
  customer: string | { id: string } | null;
  metadata: Stripe.Metadata | null;
};

/**
 * Finds the account that a purchase is for, by its customer or by the id that our checkout gave it. If the account was
 * deleted meanwhile, the audit says so.
 *
 * @param isCharged - whether someone pays for it, so that an operator has to refund it
 */
export async function findBuyer(
  db: Db,
  { id, customer, metadata }: Bought,
  isCharged: boolean,
  nowMs: number,
): Promise<Buyer | undefined> {
  const customerId = customer ? idOf(customer) : "";
  const accounts = db.selectFrom("accounts").select(["accounts.id", "accounts.email"]);
  const known = await accounts
    .innerJoin("billing_customers", "billing_customers.account_id", "accounts.id")
    .where("customer_id", "=", customerId)
    .executeTakeFirst();
  if (known || !metadata?.account) return known;
  const named = await accounts.where("accounts.id", "=", metadata.account).executeTakeFirst();
  if (named) await keepCustomer(db, named.id, customerId, nowMs);
  else if (isCharged && !(await wasGiven(db, customerId, id)))
    await tellOnce(db, { what: "purchase without account", whom: id, after: { given: "nothing" } }, nowMs);
  return named;
}

async function wasGiven(db: Db, customerId: string, checkout: string): Promise<boolean> {
  const entries = db.selectFrom("audit_entries").select("after").where("whom", "=", customerId);
  const rows = await entries.where("what", "=", customerDeletion).execute();
  return rows.some(({ after }) => after?.includes(JSON.stringify(checkout)));
}
