import type { Selectable } from "kysely";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { asIso } from "@/lib/config/instants";
import type { Tables } from "@/lib/db/tables";
import { parseJson } from "@/lib/http/json";

/** What is told, with what each event says next to its account. The triggers of `db/event-triggers.ts` write them. */
export const eventTypes = {
  "account.created": "There is a new account.",
  "account.deleted": "An account is gone, with everything that belongs to it.",
  "entitlement.changed":
    "What the account may do is another: `before` and `after`, each with `status`, `plan`, `trialEndsAt`, `assistantLimit`, `ownFeatures` and `ownLimits` beyond the plan, and `givenEndsAt`, when what the operator gives ends; or, for each account of a plan that was changed, with `plan`, `features` and `limits`.",
  "credits.changed":
    "`before` and `after`, each with `balance`, what can be spent, and `held`. Writes at one instant may share an event.",
  "credits.low": "What can be spent fell `below` the number that the owner chose. Once a crossing.",
  "hold.expired": "A `hold` of these `credits` expired: they can be spent again.",
  "app.connected": "An `app` was connected: the id of its session.",
  "app.ended": "The session of an `app` ended, and the `reason`.",
  "email.changed": "The account has another email. Read the account to see it.",
  "purchase.completed":
    "A `purchase` was paid and given: its `kind`, `licence` or `credits`, its `price` at Stripe and its `credits`.",
  "payment.failed":
    "A payment failed: of a licence, which then has a `subscription` at Stripe, or of a `purchase` of credits.",
} as const;

export type EventType = keyof typeof eventTypes;

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

/** What is read of an event. */
export const eventColumns = [
  "id",
  "account_id",
  "type",
  "data",
  "at_ms",
  "number",
  "account_number",
] as const;

/** An event as it is stored, once it has its numbers. */
export type StoredEvent = Pick<Selectable<Tables["events"]>, (typeof eventColumns)[number]>;

/** An event as it is told: the body of a webhook, which is the same at each attempt. */
export function describeEvent({ type, account_id, account_number, data, at_ms }: StoredEvent) {
  const told = { account: account_id, number: account_number, ...(inUnits(JSON.parse(data)) as object) };
  return { type, timestamp: new Date(at_ms).toISOString(), data: told };
}

/** What is JSON in a column is text in an event; null if it is not JSON, because someone wrote it by hand. */
const parsed = (text: unknown) => parseJson(Buffer.from(String(text))) ?? null;

/** Times are stored in milliseconds and amounts in thousandths, and told as elsewhere: `trialEndsAtMs` as `trialEndsAt`. */
function inUnits(stored: unknown): unknown {
  if (typeof stored !== "object" || stored === null) return stored;
  return Object.fromEntries(
    Object.entries(stored).map(([name, value]) => {
      if (name === "features") return [name, Object.keys(parsed(value) ?? {})];
      if (["limits", "ownFeatures", "ownLimits"].includes(name)) return [name, parsed(value)];
      if (name.endsWith("AtMs")) return [name.slice(0, -2), asIso(value)];
      if (name === "thousandths") return ["credits", toCredits(value)];
      if (name.endsWith("Thousandths")) return [name.slice(0, -"Thousandths".length), toCredits(value)];
      return [name, inUnits(value)];
    }),
  );
}
