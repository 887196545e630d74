import type { Command } from "commander";
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
      yield page.map((entry) => toRow(entry, nowMs));
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

function toRow({ at_ms, who, what, whom, ...texts }: AuditEntry, nowMs: number) {
  const before = texts.before === null ? null : JSON.parse(texts.before);
  const after = texts.after === null ? null : JSON.parse(texts.after);
  const at = new Date(at_ms).toISOString();
  const changes = `${inWords(texts.before)} → ${inWords(texts.after)}`;
  return {
    json: { at, who, what, whom, before, after },
    row: { at: asInstant(at, nowMs), who, what, whom, changes },
  };
}

/** Formats a recorded state, with readable times. */
function inWords(text: string | null): string {
  if (text === null) return "nothing";
  return text.replace(/_at_ms":(\d{1,15})\b/g, (_, ms) => `_at":"${new Date(Number(ms)).toISOString()}"`);
}
