import type { Stage } from "@/tests/support/engines";

export type TextColumn = { table: string; column: string };

/** Every text column of the store, read from the schema so that new columns are included. */
export async function listTextColumns({ environment, query }: Stage): Promise<TextColumn[]> {
  const rows = environment.DATABASE_URL
    ? await query(`SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'json', 'jsonb') ORDER BY 1, 2`)
    : await query(`SELECT m.name AS "table", c.name AS "column" FROM sqlite_master m, pragma_table_info(m.name) c
        WHERE m.type = 'table' AND lower(c.type) NOT IN ('bigint', 'integer') ORDER BY 1, 2`);
  return (rows as TextColumn[]).filter(({ table }) => !/^(?:sqlite_|kysely_)/.test(table));
}
