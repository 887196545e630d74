import type { Stripe } from "stripe";
import { giveMissedCredits } from "@/lib/accounts/credits/plan-credits";
import { settleTerms } from "@/lib/accounts/terms/effective-terms";
import { alignEmail, resolveBuyer } from "@/lib/billing/customer/customer";
import { changeAccount, keepPayments, tellOfSecond, tellOnce } from "@/lib/billing/customer/purchases";
import { type Row, readTerms, termsOfGone } from "@/lib/billing/licence/licence-end";
import { assignPlans } from "@/lib/billing/prices/licence-prices";
import { callStripe, findAtStripe, hasEnded, listAtStripe, removeAtStripe } from "@/lib/billing/stripe/calls";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { enqueuePaymentFailed } from "@/lib/mail/enqueue-licence-mails";
import { differs } from "@/lib/plans/terms";
import { log } from "@/lib/runtime/log";

const maxReadings = 5;

/**
 * Reads a subscription at Stripe and stores until when it is a licence. A reading is stored only if no other one was stored
 * meanwhile. Ignores what is none of ours.
 */
export async function fulfilSubscription(db: Db, id: string, event: string, nowMs: number): Promise<void> {
  for (let reading = 0; reading < maxReadings; reading++) {
    const known = await findSubscription(db, id);
    const expand = ["customer", "latest_invoice"];
    const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id, { expand }));
    const items = subscription ? await assignPlans(db, subscription.items.data, nowMs) : [];
    const account = subscription?.metadata.account;
    // A subscription of an account that is not ours is of another service that shares our Stripe account.
    if (account && items.length === 0 && (await hasRow(accountBy(db, "id", account).select("id")))) {
      const prices = subscription.items.data.map(({ price }) => price.id).join(", ");
      await tellOnce(db, { what: "subscription for another price", whom: id, after: { prices } }, nowMs);
    }
    if (!known && items.length === 0) return;
    const buyer = known
      ? await accountBy(db, "id", known.account_id).select(["id", "email"]).executeTakeFirst()
      : subscription &&
        (await resolveBuyer(db, subscription, { isOurs: true, isCharged: !hasEnded(subscription) }, nowMs));
    if (!buyer) return;
    const reading = subscription && (await readTerms(db, { subscription, items, known }, nowMs));
    const terms = reading?.terms ?? (known && termsOfGone(known, nowMs));
    if (!terms) return;
    const what = `subscription ${terms.status}`;
    const isSame = known && !differs(known, terms);
    const outcome = isSame
      ? "stored"
      : await changeAccount(db, { buyer, what }, nowMs, async (transaction, account) => {
          const current = await findSubscription(transaction, id);
          if ((current?.version ?? 0) !== (known?.version ?? 0)) return "outdated";
          // What was known gave until the licence ended, or went on with months of another day.
          const isOther = current?.cycle_anchor_ms !== terms.cycle_anchor_ms;
          const goneMs = terms.licence_until_ms > 0 ? isOther && terms.cycle_anchor_ms : terms.ends_at_ms;
          const stoppedMs = Math.min(nowMs, goneMs || nowMs);
          await giveMissedCredits(transaction, account, stoppedMs, nowMs);
          const created_at_ms = current?.created_at_ms ?? (subscription?.created ?? 0) * 1000;
          const row = { ...terms, version: (current?.version ?? 0) + 1 };
          await transaction
            .insertInto("billing_subscriptions")
            .values({ id, account_id: buyer.id, created_at_ms, ...row })
            .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
            .execute();
          if (terms.licence_until_ms > 0 && !current?.licence_until_ms)
            await tellOfSecond(transaction, buyer, id, nowMs);
          const isFailing = terms.status === "past_due" && terms.licence_until_ms > 0;
          const wasFailing =
            current?.status === "past_due" && current.unpaid_since_ms === terms.unpaid_since_ms;
          if (isFailing && !wasFailing) await enqueuePaymentFailed(transaction, { id, ...terms }, nowMs);
          await settleTerms(transaction, account, nowMs);
          return "stored";
        });
    if (outcome !== "stored") continue;
    const noted = {
      last_event: event,
      last_event_at_ms: nowMs,
      ...(subscription && invoiceColumns(subscription, reading?.open ?? [])),
    };
    await db.updateTable("billing_subscriptions").set(noted).where("id", "=", id).execute();
    await keepPayments(db, buyer.id, id, reading?.payments ?? []);
    const customer = subscription?.customer;
    if (typeof customer === "object" && !customer.deleted) await alignEmail(customer, buyer.email);
    return;
  }
  throw new Error("a subscription changed while it was read");
}

/** The licences of an account that have not ended, after they were fulfilled: by this customer, or one of a Payment Link. */
export async function refreshLive(db: Db, account: string, customer: string, nowMs: number): Promise<Row[]> {
  const live: Row[] = [];
  const read = async (id: string) => {
    await fulfilSubscription(db, id, "another checkout", nowMs);
    const row = await findSubscription(db, id);
    if (row && !hasEnded(row) && row.status !== "gone") live.push(row);
  };
  for await (const { id, status, items } of listAtStripe((stripe, page) =>
    stripe.subscriptions.list({ customer, ...page }),
  ))
    if (!hasEnded({ status }) && (await assignPlans(db, items.data, nowMs)).length > 0) await read(id);
  const known = db.selectFrom("billing_subscriptions").select("id").where("account_id", "=", account);
  const current = await known.where("status", "not in", ["canceled", "incomplete_expired", "gone"]).execute();
  for (const { id } of current) if (live.every((row) => row.id !== id)) await read(id);
  return live;
}

/**
 * Ends a subscription at Stripe in whose place another one is sold. The invoice of a payment that is not finished is voided
 * first, so that it cannot be paid meanwhile; if it was, nothing is ended.
 */
export async function endSubscription(db: Db, { id, status }: Row, nowMs: number): Promise<void> {
  const first = status === "incomplete" ? await findFirstInvoice(id) : undefined;
  if (first?.status === "open") await callStripe((stripe) => stripe.invoices.voidInvoice(first.id));
  if (status !== "incomplete" || first) await removeAtStripe((stripe) => stripe.subscriptions.cancel(id));
  await fulfilSubscription(db, id, "another checkout", nowMs);
}

/** The first invoice of a subscription, as it is at Stripe; `undefined` if nothing is to be finished there any more. */
async function findFirstInvoice(id: string): Promise<Stripe.Invoice | undefined> {
  const expand = ["latest_invoice"];
  const subscription = await findAtStripe((stripe) => stripe.subscriptions.retrieve(id, { expand }));
  const invoice = subscription?.status === "incomplete" ? subscription.latest_invoice : undefined;
  return invoice && typeof invoice === "object" ? invoice : undefined;
}

/** The page at Stripe where a first payment is finished; `undefined` if there is none. Throws `portal_failed` in an outage. */
export async function openUnfinished(db: Db, accountId: string, nowMs: number): Promise<string | undefined> {
  try {
    const unfinished = await db
      .selectFrom("billing_subscriptions")
      .select("id")
      .where("account_id", "=", accountId)
      .where("status", "=", "incomplete")
      .orderBy("created_at_ms", "desc")
      .execute();
    for (const { id } of unfinished) {
      const { hosted_invoice_url: page } = (await findFirstInvoice(id)) ?? {};
      if (page) return page;
      await fulfilSubscription(db, id, "payment finished", nowMs);
    }
    return undefined;
  } catch (failure) {
    log().warn({ err: failure }, "an unfinished payment could not be read");
    throw new ApiError("portal_failed");
  }
}

/** Ends the licences whose end has come, also while Stripe cannot be asked. */
export async function endDueLicences(db: Db, nowMs: number): Promise<void> {
  const due = await db
    .selectFrom("billing_subscriptions")
    .innerJoin("accounts", "accounts.id", "billing_subscriptions.account_id")
    .select(["billing_subscriptions.id as subscription", "accounts.id", "accounts.email"])
    .where("licence_until_ms", ">", 0)
    .where("licence_until_ms", "<=", nowMs)
    .execute();
  for (const { subscription, ...buyer } of due) {
    await changeAccount(db, { buyer, what: "licence ended" }, nowMs, async (transaction, account) => {
      await giveMissedCredits(transaction, account, nowMs, nowMs);
      await transaction
        .updateTable("billing_subscriptions")
        .set(({ eb }) => ({ licence_until_ms: 0, version: eb("version", "+", 1) }))
        .where("id", "=", subscription)
        .where("licence_until_ms", "<=", nowMs)
        .execute();
      await settleTerms(transaction, account, nowMs);
      return "stored";
    });
  }
}

function findSubscription(db: Db, id: string): Promise<Row | undefined> {
  return db.selectFrom("billing_subscriptions").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The latest invoice, what is due of all that are open, and when one of these is charged next. */
function invoiceColumns({ latest_invoice: invoice }: Stripe.Subscription, open: Stripe.Invoice[]) {
  const whole = invoice && typeof invoice === "object" ? invoice : undefined;
  const attempts = open.flatMap(({ next_payment_attempt }) => next_payment_attempt ?? []);
  return {
    invoice_id: whole?.id ?? null,
    invoice_status: whole?.status ?? null,
    amount_due: open.reduce((sum, { amount_remaining }) => sum + amount_remaining, 0),
    open_invoices: open.length,
    next_attempt_ms: attempts.length > 0 ? Math.min(...attempts) * 1000 : null,
    currency: whole?.currency ?? null,
  };
}
