import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describeChanges, findEmails, namesOf } from "@/lib/accounts/audit-trail";
import { option, shellAct } from "@/lib/admin/act";
import { parseCount, parseEmail, parseInstant, parser, parseWords } from "@/lib/admin/arguments";
import type { Listing } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";
import { type AuditEntry, listAudit, listSince } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

type Options = { of?: string; who?: string; what?: string; until?: number; since?: number; limit: number };

type Place = { at_ms: number; id: string };

const parseCursor = parser((text): Place | undefined => {
  const [, atMs, id = ""] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(text) ?? [];
  return atMs ? { at_ms: Number(atMs), id } : undefined;
}, "It must be the cursor of a line.");

export const auditActs = {
  list: shellAct({
    usage: "list",
    words: "list the changes, newest first: by commands, pages, webhooks, invitations and links",
    examples: ["audit list --of ceo@example.com", "audit list --since 2027-01-31"],
    fields: {
      of: option("--of <email>", "only changes that affect this email", parseEmail),
      who: option(
        "--who <name>",
        "only changes by this actor, for example clerk or 'operator ann'",
        parseWords,
      ),
      what: option("--what <act>", "only this kind of change, for example 'account set'", parseWords),
      since: option("--since <instant>", "only changes since then", parseInstant),
      until: option("--until <instant>", "only changes before then", parseInstant),
      limit: { ...option("--limit <n>", "the maximum number of rows", parseCount), initial: 100 },
    },
    run: async ({ db }, options: Options) => list(db, options),
  }),
  follow: shellAct({
    usage: "follow",
    words: "print each change as a line of JSON, as it is made, until it is interrupted",
    examples: ["audit follow --after 1795809270487.2d3395ae-796a-41a6-a28f-b2230923a4ae --until 2027-01-31"],
    fields: {
      after: option("--after <cursor>", "begin after the entry with this cursor", parseCursor),
      until: option("--until <instant>", "stop once there are no more before then", parseInstant),
    },
    run: ({ db }, options: { after?: Place; until?: number }) => follow(db, options),
  }),
};

const pauseMs = 1000;

/**
 * How old an entry is before it is told: its transaction, which ends within two seconds, may have begun before that of one that
 * is told already, by the clock of another instance.
 */
const settledAfterMs = 5000;

async function follow(
  db: Db,
  { after, until = Number.POSITIVE_INFINITY }: { after?: Place; until?: number },
) {
  let place = after ?? { at_ms: Date.now(), id: "" };
  for (;;) {
    const nowMs = Date.now();
    const settledMs = Math.min(nowMs - settledAfterMs, until);
    const entries = await listSince(db, place, settledMs);
    for (const entry of entries) {
      place = entry;
      const line = JSON.stringify({ cursor: `${entry.at_ms}.${entry.id}`, ...toFullEntry(entry) });
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
    }
    if (entries.length === 0) {
      if (settledMs === until) return undefined;
      await sleep(pauseMs);
    }
  }
}

function list(db: Db, { of, who, what, since, until, limit }: Options): Listing {
  const filter = { who, what, sinceMs: since, untilMs: until, maxRows: limit };
  let listed = 0;
  let emails = new Map<string, string>();
  async function* pages() {
    const whom = of === undefined ? undefined : await namesOf(db, of);
    for await (const page of listAudit(db, { ...filter, whom })) {
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
