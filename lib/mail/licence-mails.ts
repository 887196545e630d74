import { sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { takeDueRows } from "@/lib/mail/due-rows";
import { deriveMailId } from "@/lib/mail/mail";
import { type DueMail, enqueueMail, type ScheduledMail, scheduledAtOnce } from "@/lib/mail/outbox";
import type { AfterLicence } from "@/lib/mail/texts/licence";
import { currentLicence, describeDue, endStateOf } from "@/lib/plans/licence-state";
import { readPlans } from "@/lib/plans/plan";

/*
 * The mails about a licence from Stripe: when its payment has failed, three days before it ends if it was cancelled, and
 * at its end. The first and the last are queued by the transaction that stores the change, the second when it is due. What
 * is stored when a mail is sent decides whether it is: a payment or a cancellation that was taken back withdraws it.
 */

const endingLeadMs = 3 * dayMs;
const endedForMs = 2 * dayMs; // as for trials

type Subscription = Tables["billing_subscriptions"];

/** Queues the mail about a payment that has failed, unless there was one about the same period. */
export async function enqueuePaymentFailed(
  transaction: Db,
  subscription: Pick<Subscription, "id" | "unpaid_since_ms" | "licence_until_ms">,
  nowMs: number,
): Promise<void> {
  const { id: subscriptionId, unpaid_since_ms, licence_until_ms: untilMs } = subscription;
  const unpaidSinceMs = unpaid_since_ms ?? nowMs;
  const id = deriveMailId(`payment-failed:v1:${subscriptionId}:${unpaidSinceMs}`);
  if (await hasRow(transaction.selectFrom("sign_in_mail_attempts").select("id").where("id", "=", id))) return;
  const mail = { kind: "payment failed", subscriptionId, unpaidSinceMs } as const;
  await enqueueMail(transaction, mail, { id, nowMs, untilMs });
}

/** Queues the mail at the end of an account's licence, in the transaction that ends it. */
export async function enqueueLicenceEnded(transaction: Db, accountId: string, nowMs: number): Promise<void> {
  const ended = await transaction
    .selectFrom("billing_subscriptions")
    .select(({ fn }) => fn.max("ends_at_ms").as("at"))
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  const endedAtMs = Math.min(Number(ended?.at ?? nowMs), nowMs);
  const id = deriveMailId(`licence-ended:v1:${accountId}:${endedAtMs}`);
  const mail = { kind: "licence ended", accountId, endedAtMs } as const;
  await enqueueMail(transaction, mail, { id, nowMs, untilMs: nowMs + endedForMs });
}

/** Marks the cancelled licences that end soon, in the transaction that queues the mails. */
export async function takeLicenceEndingMails(transaction: Db, nowMs: number): Promise<DueMail[]> {
  if (!settings().billing) return [];
  const due = transaction
    .selectFrom("billing_subscriptions")
    .select("id")
    .where("ends_at_ms", ">", nowMs)
    .where("ends_at_ms", "<=", nowMs + endingLeadMs)
    .where("licence_until_ms", ">", nowMs)
    .where("status", "in", ["active", "trialing"])
    .whereRef("ending_mail_ms", "is distinct from", "ends_at_ms")
    .orderBy("ends_at_ms");
  const rows = await takeDueRows(transaction, "billing_subscriptions", {
    due,
    limit: scheduledAtOnce,
    change: { ending_mail_ms: sql<number>`ends_at_ms` },
  });
  return (rows ?? []).map(({ id: subscriptionId, ends_at_ms }) => {
    const endsAtMs = ends_at_ms ?? nowMs;
    const mail = { kind: "licence ending", subscriptionId, endsAtMs } as const;
    return { mail, about: `licence-ending:v1:${subscriptionId}:${endsAtMs}`, untilMs: endsAtMs };
  });
}

type Kind<Name> = Extract<ScheduledMail, { kind: Name }>;

/** Addresses the mail about a failed payment; `undefined` if it was paid, or the licence has ended. */
export async function addressPaymentFailed(db: Db, mail: Kind<"payment failed">, nowMs: number) {
  const licence = await ownedSubscriptions(db)
    .select(["email", "licence_until_ms", "status_reason"])
    .select(["amount_due", "subscription.currency", "open_invoices", "paid_plan"])
    .where("subscription.id", "=", mail.subscriptionId)
    .where("unpaid_since_ms", "=", mail.unpaidSinceMs)
    .where("licence_until_ms", ">", nowMs)
    .executeTakeFirst();
  if (!licence) return undefined;
  const { email: to, licence_until_ms: stopsAtMs, status_reason, paid_plan } = licence;
  const planTitle = (await readPlans(db)).get(paid_plan ?? "licensed")?.title;
  return { ...mail, to, stopsAtMs, status_reason, due: describeDue(licence), planTitle };
}

/** Addresses the mail before a licence ends; `undefined` if it goes on, or the account has another one. */
export async function addressLicenceEnding(db: Db, mail: Kind<"licence ending">) {
  const licence = await ownedSubscriptions(db)
    .innerJoin("billing_customers as customer", "customer.account_id", "accounts.id")
    .select(["email", "plan_before", "trial_ends_before_ms"])
    .where("subscription.id", "=", mail.subscriptionId)
    .where("subscription.status", "in", ["active", "trialing"])
    .where("ends_at_ms", "=", mail.endsAtMs)
    .where("licence_until_ms", ">", 0)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("billing_subscriptions as other")
            .select("other.id")
            .whereRef("other.account_id", "=", "accounts.id")
            .where("other.licence_until_ms", ">", mail.endsAtMs),
        ),
      ),
    )
    .executeTakeFirst();
  const after = licence && afterLicence(licence.plan_before, licence.trial_ends_before_ms, mail.endsAtMs);
  return after && { ...mail, to: licence.email, after };
}

/** Addresses the mail at a licence's end; `undefined` if the account has a licence again. */
export async function addressLicenceEnded(db: Db, mail: Kind<"licence ended">, nowMs: number) {
  const owner = await db
    .selectFrom("accounts")
    .select(["email", "plan", "trial_ends_at_ms"])
    .where("accounts.id", "=", mail.accountId)
    .where("subject", "is not", null)
    .executeTakeFirst();
  const after = owner && afterLicence(owner.plan, owner.trial_ends_at_ms, nowMs);
  const subscriptions = db.selectFrom("billing_subscriptions").selectAll();
  const licence = currentLicence(await subscriptions.where("account_id", "=", mail.accountId).execute());
  const end = {
    what: "licence",
    atMs: mail.endedAtMs,
    how: licence ? endStateOf(licence) : "ended",
  } as const;
  return after && { ...mail, to: owner.email, after, end };
}

function ownedSubscriptions(db: Db) {
  return db
    .selectFrom("billing_subscriptions as subscription")
    .innerJoin("accounts", "accounts.id", "subscription.account_id")
    .where("subject", "is not", null);
}

/** What an account has after its licence, by the terms that an operator gives it; `undefined` if that is a licence. */
function afterLicence(
  plan: string | null,
  trialEndsAtMs: number | null,
  endsAtMs: number,
): AfterLicence | undefined {
  if (plan === "licensed") return undefined;
  if (plan === "hobby" || settings().billing?.lapsedPlan === "hobby") return "hobby";
  return (trialEndsAtMs ?? 0) > endsAtMs ? "trial" : "nothing";
}
