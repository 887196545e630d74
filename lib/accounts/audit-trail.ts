import { toCredits } from "@/lib/accounts/credits/ledger";
import { findFormerEmails } from "@/lib/accounts/email-change";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import type { AuditEntry, AuditFilter } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { hashEmail } from "@/lib/mail/outbox/suppressions";

/** All identifiers of a person that an audit entry may use, by email; former emails are among them. */
export async function namesOf(db: Db, email: string): Promise<NonNullable<AuditFilter["whom"]>> {
  const account = accountBy(db, "email", email);
  const [id, subject] = [account.select("id"), account.select("subject")];
  const former = await findFormerEmails(db, email);
  return [email, hashEmail(email), id.$asScalar(), subject.$asScalar(), ...former];
}

/** The emails of the accounts that the entries name by id. */
export async function findEmails(db: Db, entries: AuditEntry[]): Promise<Map<string, string>> {
  const ids = entries.flatMap(({ whom }) => (whom?.startsWith("acc_") ? [whom] : []));
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("accounts").select(["id", "email"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

export type Fields = Record<string, unknown> | null;

/** For example `plan trial → licensed, credits 3 → 8`. */
export function describeChanges(before: Fields, after: Fields): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changes = [...names].flatMap((name) => {
    const [from, to] = [before?.[name], after?.[name]].map((value) => formatValue(name, value));
    if (from === undefined || from === "none") return to === "none" ? [] : `${labelOf(name)} ${to ?? "gone"}`;
    return `${labelOf(name)} ${from} → ${to ?? "gone"}`;
  });
  return changes.join(", ");
}

/** What a name says in words. A name that is none of our fields, such as a key's, stays as it is. */
function labelOf(name: string): string {
  const label = labels.get(name);
  if (label) return label;
  if (!/^[a-z]+(?:_[a-z]+|[A-Z][a-z]*)*$/.test(name)) return name;
  const words = name.replace(/_(?:ms|thousandths)$/, "").replace(/[A-Z]/g, (capital) => `_${capital}`);
  return words.replaceAll("_", " ").toLowerCase();
}

/** Of the fields whose names do not say it to a reader. */
const labels = new Map([
  ["trial_ends_at_ms", "trial until"],
  ["given_plan", "plan from an operator"],
  ["paid_plan", "plan from Stripe"],
  ["given_ends_at_ms", "given until"],
  ["given_after", "after that"],
  ["credit_thousandths", "credits"],
  ["held_thousandths", "held credits"],
  ["app_end_mails_stopped_at_ms", "mails about the end of apps off since"],
  ["trial_mail_done_ms", "mail about the trial’s end"],
  ["deletes_at_ms", "erased on"],
  ["types", "events"],
  ["to_email", "new email"],
  ["until_ms", "links until"],
  ["from_confirmed_at_ms", "confirmed by the old email"],
  ["to_confirmed_at_ms", "confirmed by the new email"],
  ["monthly_thousandths", "credits a month at most"],
  ["mail_below_thousandths", "mail below credits"],
  ["top_up_price", "bought automatically"],
  ["top_up_below_thousandths", "below credits"],
  ["top_up_most", "times a month at most"],
  ["top_up_stopped", "stopped because of"],
]);

/** Formats a recorded value: a time as ISO 8601, thousandths as credits, a list and a column of JSON by what is in them. */
function formatValue(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null || value === "") return "none";
  if (typeof value === "number" && name.endsWith("_ms")) return asIso(value) ?? undefined;
  if (typeof value === "number" && name.endsWith("_thousandths")) return String(toCredits(value));
  if (typeof value === "string" && ofJson.has(name)) return formatValue(name, JSON.parse(value));
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (typeof value !== "object") return String(value);
  const fields = describeChanges(null, value as Fields);
  return fields ? `(${fields})` : "none";
}

const ofJson: ReadonlySet<string> = new Set(["own_features", "own_limits", "given_after"]);
