import type { CompiledQuery, KyselyPlugin } from "kysely";
import { describe, expect, it } from "vitest";
import { findMentions } from "@/lib/store/mentions";
import { Store } from "@/lib/store/store";
import { engines } from "@/tests/support/engines";

const email = "ann.lee@example.com";

describe.each(engines)("mentions of an address on $name", (engine) => {
  it("are found among fifty thousand entries, in pages that an index finds and that end early", async () => {
    const stage = await engine.prepare();
    const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
    const store = new Store({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR });
    const db = await store.ready();
    const [numbers, random] = DATABASE_URL
      ? ["SELECT n FROM generate_series(1, 50000) AS n", "gen_random_uuid()::text"]
      : [
          "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 50000) SELECT n FROM r",
          "lower(hex(randomblob(16)))",
        ];
    await stage.query(
      `INSERT INTO audit_entries (id, at_ms, who, what, whom, after)
       SELECT ${random}, n, 'owner', 'sign in', 'someone' || n || '@example.com', '{"session":"' || n || '"}' FROM (${numbers}) AS numbers`,
    );
    await stage.query(`INSERT INTO audit_entries (id, at_ms, who, what, whom, before, after) VALUES
      ('first', 0, 'clerk', 'x', 'Ann.Lee@Example.com', NULL, NULL),
      ('middle', 25000, 'clerk', 'x', NULL, '{"message":"Thanks, ANN.LEE@example.com"}', NULL),
      ('last', 60000, 'clerk', 'x', NULL, NULL, '["ann.lee@example.com"]'),
      ('other', 1, 'clerk', 'x', 'ann-lee@example.com', NULL, NULL)`);
    if (DATABASE_URL) await stage.query("ANALYZE audit_entries");

    const queries: CompiledQuery[] = [];
    const sizes: number[] = [];
    const watch: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        queries.push(db.getExecutor().compileQuery(node, queryId));
        return node;
      },
      async transformResult({ result }) {
        sizes.push(result.rows.length);
        return result;
      },
    };
    const found = await findMentions(db.withPlugin(watch), "audit_entries", email);
    expect(found).toEqual(["first", "middle", "last"]);
    expect(sizes).toHaveLength(101);
    expect(Math.max(...sizes)).toBe(500);

    const explain = DATABASE_URL ? "EXPLAIN" : "EXPLAIN QUERY PLAN";
    for (const query of queries.slice(0, 2)) {
      const { rows } = await db.executeQuery({ ...query, sql: `${explain} ${query.sql}` });
      expect(JSON.stringify(rows)).toMatch(
        /Index Scan using audit_entries_at |(SCAN|SEARCH) audit_entries USING INDEX audit_entries_at/,
      );
      expect(JSON.stringify(rows)).not.toMatch(/Seq Scan|Sort|TEMP B-TREE/);
    }
    await store.close();
    await stage.clear();
  });
});
