import type { Db } from "@/lib/db/store";
import { enqueueLicenceEnded } from "@/lib/mail/licence-mails";
import { findCustomer } from "@/lib/plans/purchases";
import { betterOf, differs, givenTerms, lapsedTerms, type Terms } from "@/lib/plans/terms";

/**
 * Settles what an account has, in the caller's transaction, which has locked it: after a subscription was read, at a
 * licence's end, or with a change of what an operator gives.
 */
export async function settleTerms(
  transaction: Db,
  account: Terms & { id: string },
  nowMs: number,
  change = (given: Terms) => given,
): Promise<void> {
  const customer = await findCustomer(transaction, account.id);
  const licences = await transaction
    .selectFrom("billing_subscriptions")
    .select("assistant_limit")
    .where("account_id", "=", account.id)
    .where("licence_until_ms", ">", nowMs)
    .execute();
  const limits = licences.flatMap(({ assistant_limit }) => assistant_limit ?? []);
  const isLimited = limits.length === licences.length;
  const paid = licences.length > 0 ? { limit: isLimited ? Math.max(...limits) : null } : undefined;
  const hadLicence = Boolean(customer?.licence);
  const before = givenTerms(account, customer);
  const given = change(!paid && hadLicence ? lapsedTerms(before) : before);
  const kept = {
    licence: paid ? "given" : null,
    plan_before: paid ? given.plan : null,
    trial_ends_before_ms: paid ? given.trial_ends_at_ms : null,
    limit_before: paid ? given.assistant_limit : null,
    limit_given: paid ? paid.limit : null,
  };
  if (customer && differs(customer, kept))
    await transaction
      .updateTable("billing_customers")
      .set(kept)
      .where("account_id", "=", account.id)
      .execute();
  const terms = betterOf(given, paid);
  if (!paid && hadLicence) await enqueueLicenceEnded(transaction, account.id, nowMs);
  if (differs(account, terms))
    await transaction.updateTable("accounts").set(terms).where("id", "=", account.id).execute();
}
