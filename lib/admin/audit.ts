import { describeChanges, findEmails, namesOf } from "@/lib/accounts/audit-trail";
import { parseCount, parseEmail, parseInstant, parseWords } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import type { Listing } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";
import { type AuditEntry, listAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

type Options = { of?: string; who?: string; what?: string; until?: number; since?: number; limit: number };

/** `audit list`. */
export function addAuditCommands(program: AdminCommand): void {
  const audit = program.command("audit").description("who changed what");

  audit
    .add(
      "list",
      "list the changes, newest first: by commands, pages, webhooks, invitations and links",
      "audit list --of ceo@example.com",
      "audit list --since 2027-01-31",
    )
    .option("--of <email>", "only changes that affect this email", parseEmail)
    .option("--who <name>", "only changes by this actor, for example clerk or 'operator ann'", parseWords)
    .option("--what <act>", "only this kind of change, for example 'account set'", parseWords)
    .option("--since <instant>", "only changes since then", parseInstant)
    .option("--until <instant>", "only changes before then", parseInstant)
    .option("--limit <n>", "the maximum number of rows", parseCount, 100)
    .does(async ({ db }, options: Options) => list(db, options));
}

function list(db: Db, { of, who, what, since, until, limit }: Options): Listing {
  const whom = of === undefined ? undefined : namesOf(db, of);
  const filter = { whom, who, what, sinceMs: since, untilMs: until, maxRows: limit };
  let listed = 0;
  let emails = new Map<string, string>();
  async function* pages() {
    for await (const page of listAudit(db, filter)) {
      listed += page.length;
      emails = await findEmails(db, page);
      yield page.map(toFullEntry);
    }
  }
  const toRow = ({ before, after, ...entry }: FullEntry) => ({
    ...entry,
    whom: emails.get(entry.whom ?? "") ?? entry.whom,
    changes: describeChanges(before, after),
  });
  const after = () =>
    listed === limit ? `There may be older entries: use a --limit above ${limit}.` : undefined;
  return { pages: pages(), toRow, whenEmpty: "No entries found.", after };
}

type FullEntry = ReturnType<typeof toFullEntry>;

function toFullEntry({ at_ms, who, what, whom, before, after }: AuditEntry) {
  const parse = (json: string | null) => (json === null ? null : JSON.parse(json));
  return { at: asIso(at_ms), who, what, whom, before: parse(before), after: parse(after) };
}
