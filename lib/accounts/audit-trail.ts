import { toCredits } from "@/lib/accounts/ledger";
import { namesOf } from "@/lib/accounts/person";
import type { AuditEntry } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** All identifiers of a person that the audit may use, by email. */
export async function findNames(db: Db, email: string): Promise<string[]> {
  const account = await db
    .selectFrom("accounts")
    .select(["id", "subject"])
    .where("email", "=", email)
    .executeTakeFirst();
  return namesOf(email, account);
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
  const changes = [...names].map((name) => {
    const [from, to] = [before?.[name], after?.[name]].map((value) => inWords(name, value));
    const label = name
      .replace(/_at_ms$/, "_at")
      .replace(/^credit_thousandths$/, "credits")
      .replaceAll("_", " ");
    return from === undefined ? `${label} ${to}` : `${label} ${from} → ${to ?? "gone"}`;
  });
  return changes.join(", ");
}

/** Formats a recorded value: a time as ISO 8601, thousandths as credits. */
function inWords(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return "none";
  if (typeof value === "number" && name.endsWith("_at_ms")) return new Date(value).toISOString();
  if (typeof value === "number" && name.endsWith("_thousandths")) return String(toCredits(value));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
