import { maxThousandths, spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { asIso } from "@/lib/config/instants";
import type { Tables } from "@/lib/db/tables";
import { operations } from "@/lib/http/register/operations";
import { type Contents, hasValidGrants, ownFeaturesOf, ownLimitsOf } from "@/lib/plans/plan";
import { describeAfter, readAfter, rowAt } from "@/lib/plans/terms";

/** What an account can be; the entitlement reports it as its status. */
export const accountStatuses = operations.entitlement.answer.shape.status.options;
export type AccountStatus = (typeof accountStatuses)[number];

type Row = Tables["accounts"];

/** A row that is valid, with what is given and held at the time of the query; a trial always has an end. */
export type Account = Row &
  ({ plan: Exclude<AccountStatus, "trial"> } | { plan: "trial"; trial_ends_at_ms: number });

/**
 * Parses a row as it is at `nowMs`, because SQLite checks no types; `undefined` if it is invalid. Written by hand because
 * every entitlement request parses one, and a schema takes three times as long.
 */
export function parseAccount(
  stored: Record<keyof Row, unknown> | undefined,
  nowMs: number,
): Account | undefined {
  if (!stored) return undefined;
  const { given_ends_at_ms } = stored;
  if (given_ends_at_ms !== null && !(isInstant(given_ends_at_ms) && readAfter(stored))) return undefined;
  const row = rowAt(stored, nowMs);
  const { id, email, subject, plan, trial_ends_at_ms, assistant_limit, credit_thousandths } = row;
  const { held_thousandths } = row;
  if (!isText(id) || !isText(email) || !email.includes("@")) return undefined;
  if (subject !== null && !isText(subject)) return undefined;
  if (assistant_limit !== null && !isWhole(assistant_limit)) return undefined;
  if (!isWhole(credit_thousandths) || credit_thousandths > maxThousandths) return undefined;
  if (!isWhole(held_thousandths) || held_thousandths > credit_thousandths) return undefined;
  if (!isInstant(row.created_at_ms)) return undefined;
  if (!hasValidGrants(row)) return undefined;
  if (trial_ends_at_ms !== null && !isInstant(trial_ends_at_ms)) return undefined;
  if (plan === "trial" ? trial_ends_at_ms === null : !accountStatuses.some((known) => known === plan))
    return undefined;
  return { ...(row as Account), deletes_at_ms: isInstant(row.deletes_at_ms) ? row.deletes_at_ms : null };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && !((value as number) < 0);

const lastInstantMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999); // RFC 3339 writes a year in four digits

/** Whether a value is a time in Unix milliseconds that an account can have. */
export const isInstant = (value: unknown): value is number => isWhole(value) && value <= lastInstantMs;

/** When an account's trial ends, in Unix milliseconds; `null` if it is on no trial. */
export const trialEndOf = ({ plan, trial_ends_at_ms }: Account) =>
  plan === "trial" ? trial_ends_at_ms : null;

/** The fields of an account as an operator sees them. */
export function describeAccount(account: Account, { plan, features, limits }: Contents) {
  return {
    id: account.id,
    email: account.email,
    subject: account.subject,
    status: account.plan,
    plan,
    trialEndsAt: asIso(trialEndOf(account)),
    assistantLimit: limits.assistants ?? null,
    features,
    limits,
    ...(account.own_features !== null && { ownFeatures: ownFeaturesOf(account) }),
    ...(account.own_limits !== null && { ownLimits: ownLimitsOf(account) }),
    ...(account.given_ends_at_ms !== null && {
      givenEndsAt: asIso(account.given_ends_at_ms),
      afterwards: describeAfter(account),
    }),
    credits: toCredits(spendable(account)),
    heldCredits: toCredits(account.held_thousandths),
    reference: account.reference,
    createdAt: new Date(account.created_at_ms).toISOString(),
  };
}
