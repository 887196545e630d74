import { type Kysely, type RawBuilder, sql } from "kysely";
import { paginate } from "@/lib/db/pagination";
import type { Tables } from "@/lib/db/tables";

/**
 * Free-text columns, which contain what people typed, what apps call themselves and what providers answered, with the
 * key by which each table is read. All other columns contain our own words, ids and hashes.
 */
const texts = {
  accounts: { key: ["id"], columns: ["reference"] },
  audit_entries: { key: ["at_ms", "id"], columns: ["who", "whom", "before", "after"] },
  connect_clients: { key: ["id"], columns: ["name", "redirect_uris"] },
  // Grants, codes and tokens contain no one's words.
  connect_state: {
    key: ["kind", "id_hash"],
    columns: ["payload"],
    only: ["Client", "DeviceCode", "Interaction"].map((kind) => sql`kind = ${kind}`),
  },
  // Answers about several accounts have their ids; all others are deleted with theirs.
  backend_writes: {
    key: ["backend_id", "key_hash"],
    columns: ["answer"],
    only: [sql`account_id is null`],
  },
  credit_entries: { key: ["id"], columns: ["reason", "reference"] },
  holds: { key: ["id"], columns: ["reason", "reference"] },
  local_sessions: { key: ["id"], columns: ["name", "app_origin"] },
  onboarding_emails: { key: ["id"], columns: ["failure"] },
  passkeys: { key: ["id"], columns: ["name"] },
  site_banner: { key: ["id"], columns: ["message"] },
  webhook_deliveries: { key: ["webhook_id", "number"], columns: ["answer"] },
  webhooks: { key: ["id"], columns: ["url"] },
} as const satisfies {
  [Table in keyof Tables]?: Record<"key" | "columns", readonly (keyof Tables[Table])[]> & {
    only?: RawBuilder<unknown>[];
  };
};

type TextTable = keyof typeof texts;
type Texts = { key: readonly string[]; columns: readonly string[]; only?: RawBuilder<unknown>[] };

/** A replacement for every match. */
type Alias = { mention: RegExp; by: string };

/** A row that mentions someone in a text. */
type Mention = { table: TextTable; key: (string | number)[]; aliases: Alias[] };

type Row = Record<string, string | number | null>;

/**
 * Finds the rows that mention someone in a text. This reads all texts, page by page, so that no query comes near its
 * deadline. Call it outside a transaction, which would block all writers.
 *
 * @param aliasesIn - the replacements in the texts of a table
 */
export async function findMentions(
  db: Kysely<Tables>,
  aliasesIn: (table: TextTable) => Alias[],
): Promise<Mention[]> {
  const found: Mention[] = [];
  for (const table of Object.keys(texts) as TextTable[]) {
    const aliases = aliasesIn(table);
    for await (const page of readTexts(db, table)) {
      const named = page.filter((row) => Object.keys(rename(table, row, aliases)).length > 0);
      found.push(...named.map((row) => ({ table, key: keyOf(table, row), aliases })));
    }
  }
  return found;
}

async function* readTexts(db: Kysely<Tables>, table: TextTable): AsyncGenerator<Row[]> {
  const { key, columns, only = [sql`1 = 1`] }: Texts = texts[table];
  const location = sql.join(key.map((column) => sql.ref(column)));
  const selected = sql.join([...key, ...columns].map((column) => sql.ref(column)));
  for (const part of only)
    yield* paginate<Row>(async (last, limit) => {
      const after = last ? sql`and (${location}) > (${sql.join(keyOf(table, last))})` : sql``;
      const page = sql<Row>`select ${selected} from ${sql.table(table)} where ${part} ${after} order by ${location} limit ${limit}`;
      return (await page.execute(db)).rows;
    });
}

/** Replaces these mentions, in the caller's transaction. Returns whether there were any. */
export async function replaceMentions(transaction: Kysely<Tables>, mentions: Mention[]): Promise<boolean> {
  const db = transaction as unknown as Kysely<Record<string, Row>>;
  let hasReplaced = false;
  for (const { table, key, aliases } of mentions) {
    const is = Object.fromEntries(texts[table].key.map((column, at) => [column, key[at]]));
    const row = await db
      .selectFrom(table)
      .selectAll()
      .where(({ and }) => and(is))
      .executeTakeFirst();
    const renamed = row ? rename(table, row, aliases) : {};
    if (Object.keys(renamed).length === 0) continue;
    await db
      .updateTable(table)
      .set(renamed)
      .where(({ and }) => and(is))
      .execute();
    hasReplaced = true;
  }
  return hasReplaced;
}

const keyOf = (table: TextTable, row: Row) =>
  texts[table].key.map((column) => row[column] as string | number);

function rename(table: TextTable, row: Row, aliases: Alias[]): Row {
  const renamed: Row = {};
  for (const column of texts[table].columns) {
    const text = row[column];
    if (typeof text !== "string") continue;
    const other = aliases.reduce((so, { mention, by }) => so.replace(mention, () => by), text);
    if (other !== text) renamed[column] = other;
  }
  return renamed;
}

/* A character next to it can make it part of a longer address, unless that ends an escape sequence. */
const noAddressBefore = "(?<![\\w.+%'-])";
const escapeBefore = [
  "%(?:25){0,4}(?!2[57bde]|5f)[\\da-f]{2}",
  "=(?:3d|20|22|3c)",
  "\\\\u00[\\da-f]{2}",
  "\\\\[bfnrt]",
].join("|");
const noAddressAfter = "(?!\\.?[\\w-])";

/** Matches an address in any letter case and escaping, but not as part of another address. */
export function mentionsOfEmail(email: string): RegExp {
  const plain = `(?:${noAddressBefore}|(?<=${escapeBefore}))${escapedPattern(email)}${noAddressAfter}`;
  return new RegExp([plain, ...base64Patterns(email)].join("|"), "gi");
}

/** Matches one of our ids in any escaping, also inside a longer text. */
export function mentionsOfId(id: string): RegExp {
  return new RegExp([escapedPattern(id), ...base64Patterns(id)].join("|"), "gi");
}

const entities: Record<string, string> = { "@": "commat", ".": "period", "+": "plus", _: "lowbar" };

/**
 * A pattern for a text in which any character may be escaped: percent-encoded (RFC 3986, also repeatedly),
 * quoted-printable, JSON or HTML.
 */
function escapedPattern(text: string): string {
  return [...text]
    .map((character) => {
      const cases = [...new Set([character.toLowerCase(), character.toUpperCase()])];
      const codes = cases.map((one) => one.charCodeAt(0));
      const hex = `(?:${codes.map((code) => code.toString(16).padStart(2, "0")).join("|")})`;
      const alternatives = [
        character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"),
        `(?:%(?:25){0,4}|=)${hex}`,
        `\\\\{1,8}u\\{?0{0,4}${hex}\\}?`,
        `&#(?:0{0,4}(?:${codes.join("|")})|x0{0,4}${hex});?`,
        ...(entities[character] ? [`&${entities[character]};`] : []),
      ];
      return `(?:${alternatives.join("|")})`;
    })
    .join("");
}

/** Patterns for a text in the base64 of a longer one: one an alignment, of the characters that depend on it alone. */
function base64Patterns(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const whole = bytes
      .toString("base64")
      .slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return whole.replace(/[+/]/g, (character) => (character === "+" ? "[+-]" : "[/_]"));
  });
}
