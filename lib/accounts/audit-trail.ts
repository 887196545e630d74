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
    if (from === undefined) return to === "none" ? [] : `${labelOf(name)} ${to}`;
    return `${labelOf(name)} ${from} → ${to ?? "gone"}`;
  });
  return changes.join(", ");
}

/** A column's name in words; any other name, such as a key's, stays as it is. */
function labelOf(name: string): string {
  if (!/^[a-z_]+$/.test(name)) return name;
  return name
    .replace(/_ms$/, "")
    .replace(/^credit_thousandths$/, "credits")
    .replaceAll("_", " ");
}

/** Formats a recorded value: a time as ISO 8601, thousandths as credits, a column of JSON by its fields. */
function formatValue(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return "none";
  if (typeof value === "number" && name.endsWith("_ms")) return asIso(value) ?? undefined;
  if (typeof value === "number" && name.endsWith("_thousandths")) return String(toCredits(value));
  if (typeof value === "string" && value.startsWith("{")) return formatValue(name, JSON.parse(value));
  return typeof value === "object" ? `(${describeChanges(null, value as Fields)})` : String(value);
}
