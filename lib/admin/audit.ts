import type { Command } from "commander";
import { toCredits } from "@/lib/accounts/ledger";
import { namesOf } from "@/lib/accounts/person";
import {
  parseCount,
  parseEmail,
  parseInstant,
  parseWords,
  type Run,
  withExamples,
} from "@/lib/admin/command";
import { asInstant, type Listing } from "@/lib/admin/print";
import { type AuditEntry, listAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

type Options = { of?: string; who?: string; since?: number; limit: number };

/** `audit list`. */
export function addAuditCommands(program: Command, run: Run): void {
  const audit = program.command("audit").description("who changed what");

  withExamples(audit.command("list"), "audit list --of ceo@example.com", "audit list --since 2027-01-31")
    .description("list the changes, newest first: by commands, pages, webhooks, invitations and links")
    .option("--of <email>", "only changes that affect this email", parseEmail)
    .option("--who <name>", "only changes by this actor, for example clerk or 'operator ann'", parseWords)
    .option("--since <instant>", "only changes since then", parseInstant)
    .option("--limit <n>", "the maximum number of rows", parseCount, 100)
    .action(run(list));
}

async function list(db: Db, { of, who, since, limit }: Options): Promise<Listing> {
  const nowMs = Date.now();
  const whom = of === undefined ? undefined : await findNames(db, of);
  let listed = 0;
  async function* pages() {
    for await (const page of listAudit(db, { whom, who, sinceMs: since, maxRows: limit })) {
      listed += page.length;
      const emails = await findEmails(db, page);
      yield page.map((entry) => toRow(entry, emails, nowMs));
    }
  }
  const after = () =>
    listed === limit ? `There may be older entries: use a --limit above ${limit}.` : undefined;
  return { pages: pages(), whenEmpty: "No entries found.", after };
}

async function findNames(db: Db, email: string): Promise<string[]> {
  const account = await db
    .selectFrom("accounts")
    .select(["id", "subject"])
    .where("email", "=", email)
    .executeTakeFirst();
  return namesOf(email, account);
}

/** The emails of the accounts that the entries name by id. */
async function findEmails(db: Db, entries: AuditEntry[]): Promise<Map<string, string>> {
  const ids = entries.flatMap(({ whom }) => (whom?.startsWith("acc_") ? [whom] : []));
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("accounts").select(["id", "email"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

function toRow({ at_ms, who, what, whom, ...texts }: AuditEntry, emails: Map<string, string>, nowMs: number) {
  const before = texts.before === null ? null : JSON.parse(texts.before);
  const after = texts.after === null ? null : JSON.parse(texts.after);
  const at = new Date(at_ms).toISOString();
  const person = emails.get(whom ?? "") ?? whom;
  return {
    json: { at, who, what, whom, before, after },
    row: { at: asInstant(at, nowMs), who, what, whom: person, changes: describeChanges(before, after) },
  };
}

type Fields = Record<string, unknown> | null;

/** For example `plan trial → licensed, credits 3 → 8`. */
function describeChanges(before: Fields, after: Fields): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changes = [...names].flatMap((name) => {
    const [from, to] = [before?.[name], after?.[name]].map((value) => inWords(name, value));
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

/** Formats a recorded value: a time as ISO 8601, thousandths as credits. */
function inWords(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return "none";
  if (typeof value === "number" && name.endsWith("_ms")) return new Date(value).toISOString();
  if (typeof value === "number" && name.endsWith("_thousandths")) return String(toCredits(value));
  return typeof value === "object" ? `(${describeChanges(null, value as Fields)})` : String(value);
}
