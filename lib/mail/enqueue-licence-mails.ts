import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { deriveMailId } from "@/lib/mail/mail";
import { enqueueMail } from "@/lib/mail/outbox/outbox";

/**
 * How long a mail about what has gone wrong waits for what mends it: Stripe may tell the end of one licence before the start
 * of the next, and an owner whose card is refused tries another.
 */
const mendedWithinMs = 5 * 60_000;

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
  await enqueueMail(transaction, mail, { id, nowMs, dueAtMs: nowMs + mendedWithinMs, untilMs });
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
  await enqueueMail(transaction, mail, { id, nowMs, dueAtMs: nowMs + mendedWithinMs });
}
