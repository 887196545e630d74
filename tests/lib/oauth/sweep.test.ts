import type { CompiledQuery, KyselyPlugin } from "kysely";
import { describe, expect, it } from "vitest";
import { sweepState } from "@/lib/oauth/sweep";
import { engines } from "@/tests/support/engines";

describe.each(engines)("the sweep of expired OAuth state on $name", (engine) => {
  it("deletes 1,000 rows in batches of 100 at most, which it finds by an index", async () => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const isPostgres = stage.environment.DATABASE_URL !== undefined;
    const numbers = isPostgres
      ? "SELECT n FROM generate_series(1, 1000) AS n"
      : "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1000) SELECT n FROM r";
    await stage.query(
      `INSERT INTO connect_state (kind, id_hash, payload, grant_id, expires_at_ms)
       SELECT 'RefreshToken', 'hash ' || n, '{}', 'grant', n FROM (${numbers}) AS numbers`,
    );
    await stage.query("ANALYZE connect_state");

    const queries: CompiledQuery[] = [];
    const deleted: number[] = [];
    const watch: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        queries.push(db.getExecutor().compileQuery(node, queryId));
        return node;
      },
      async transformResult({ result }) {
        if (result.numAffectedRows !== undefined) deleted.push(Number(result.numAffectedRows));
        return result;
      },
    };
    await sweepState(db.withPlugin(watch), 995);
    expect(deleted.filter((rows) => rows > 0)).toEqual([...Array(9).fill(100), 95]);
    expect(await stage.query("SELECT count(*) AS rows FROM connect_state")).toEqual([
      { rows: isPostgres ? "5" : 5 },
    ]);

    const [first] = queries;
    if (!first) throw new Error("no query");
    const explain = isPostgres ? "EXPLAIN" : "EXPLAIN QUERY PLAN";
    const { rows } = await db.executeQuery({ ...first, sql: `${explain} ${first.sql}` });
    expect(JSON.stringify(rows)).toMatch(
      /INDEX connect_state_expires_at_ms|Index Scan using connect_state_expires_at_ms/,
    );
    await stage.clear();
  });
});
