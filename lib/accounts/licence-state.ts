import type { Account } from "@/lib/accounts/account";
import type { Tables } from "@/lib/db/tables";
import type { AccountEnd, LicenceState } from "@/lib/http/entitlement-words";

/** A licence from Stripe, as it was last read. */
export type Licence = Pick<
  Tables["billing_subscriptions"],
  "status" | "ends_at_ms" | "period_ends_ms" | "licence_until_ms"
>;

/** How a licence goes on. */
export function licenceStateOf({ status, ends_at_ms, licence_until_ms }: Licence): LicenceState {
  const runs = licence_until_ms > 0;
  if (["past_due", "unpaid", "incomplete", "paused"].includes(status)) return runs ? "past due" : "unpaid";
  if (!runs) return "ended";
  return ends_at_ms === null ? "renews" : "cancelled";
}

/** The subscriptions that have not ended at Stripe: next to them, none is sold. */
export const liveOf = <Row extends Licence>(subscriptions: Row[]) =>
  subscriptions.filter(({ status }) => !["canceled", "incomplete_expired", "gone"].includes(status));

/** The licence that counts: the one that runs longest, of those that have not ended if there are any. */
export function currentLicence<Row extends Licence>(subscriptions: Row[]): Row | undefined {
  const longest = subscriptions.toSorted((one, other) => other.licence_until_ms - one.licence_until_ms);
  return liveOf(longest)[0] ?? longest[0];
}

/** What ended last of an account that may not run: a licence counts if it ended after the trial. */
export function endOf(account: Account | undefined, licence: Licence | undefined): AccountEnd {
  const atMs = licence?.ends_at_ms ?? 0;
  const trialEndsAtMs = account?.plan === "trial" ? account.trial_ends_at_ms : 0;
  if (!licence || atMs <= trialEndsAtMs || licence.status.startsWith("incomplete")) return { what: "trial" };
  return { what: "licence", atMs, isUnpaid: licenceStateOf(licence) === "unpaid" };
}
