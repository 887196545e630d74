import { type Kysely, sql } from "kysely";
import { inPages } from "@/lib/store/paging";
import type { Tables } from "@/lib/store/tables";

/** Where people write what they like, and may have written an address; and an order that has an index. */
const texts = {
  audit_entries: { columns: ["whom", "before", "after"], order: ["at_ms", "id"] },
  credit_entries: { columns: ["reason"], order: ["id"] },
} as const satisfies {
  [Table in keyof Tables]?: Record<"columns" | "order", readonly (keyof Tables[Table])[]>;
};

/**
 * The ids of the rows in whose texts an address stands; also, as it may, where that is a part of another. Nothing but
 * reading them all finds these: it is done page by page, so that no query nears the deadline, and belongs outside a
 * transaction, which would hold up everybody who writes.
 */
export async function findMentions(
  db: Kysely<Tables>,
  table: keyof typeof texts,
  email: string,
): Promise<string[]> {
  const { columns, order } = texts[table];
  const isNamed = sql.join(
    columns.map((column) => mentions(column, email)),
    sql` or `,
  );
  const place = sql.join(order.map((column) => sql.ref(column)));
  type Row = { id: string; at_ms?: number; is_named: unknown };
  const pages = inPages<Row>(async (last, limit) => {
    const after = last ? sql`where (${place}) > (${sql.join(order.map((column) => last[column]))})` : sql``;
    const page = sql<Row>`select ${place}, ${isNamed} as is_named
      from ${sql.table(table)} ${after} order by ${place} limit ${limit}`;
    return (await page.execute(db)).rows;
  });
  const found: string[] = [];
  for await (const page of pages) found.push(...page.filter((row) => row.is_named).map(({ id }) => id));
  return found;
}

/** Whether a text has an address in it, in any letter case. */
function mentions(column: string, email: string) {
  const pattern = `%${email.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}

/** Puts another word in an address's place, in any letter case; not where it is a part of another address. */
export function replaceMention(text: string, email: string, by: string): string {
  const literal = email.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return text.replace(new RegExp(`(?<![\\w.+%'-])${literal}(?!\\.?[\\w-])`, "gi"), () => by);
}
