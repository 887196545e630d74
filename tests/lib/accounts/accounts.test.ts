import type { CompiledQuery, KyselyPlugin } from "kysely";
import { describe, expect, it } from "vitest";
import { listAccounts, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/invitations";
import { engines } from "@/tests/support/engines";

const email = "ceo@example.com";

describe.each(engines)("concurrent changes of an account on $name", (engine) => {
  it("keep the changes of both operators when they set different terms", async () => {
    const stage = await engine.prepare();
    const [first, second, third] = [await stage.open(), await stage.open(), await stage.open()];
    const nowMs = Date.now();
    await addAccount(first, email, { plan: "trial" }, nowMs);
    for (let n = 1; n <= 20; n++) {
      const trialEndsAtMs = nowMs + n;
      await Promise.all([
        setAccount(first, email, { assistantLimit: n }, nowMs),
        setAccount(second, email, { trialEndsAtMs }, nowMs),
        setAccount(third, email, { creditThousandths: n }, nowMs),
      ]);
      const [row] = await stage.query("SELECT * FROM accounts");
      expect([row?.assistant_limit, row?.trial_ends_at_ms, row?.credit_thousandths].map(Number)).toEqual([
        n,
        trialEndsAtMs,
        n,
      ]);
    }
    await stage.clear();
  });
});

describe.each(engines)("the list of accounts on $name", (engine) => {
  it("is read 500 accounts at a time, in the order of an index", async () => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const isPostgres = stage.environment.DATABASE_URL !== undefined;
    const numbers = isPostgres
      ? "SELECT n FROM generate_series(1, 10100) AS n"
      : "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 10100) SELECT n FROM r";
    await stage.query(
      `INSERT INTO accounts (id, email, plan, created_at_ms)
       SELECT 'acc_' || n, n || '@example.com', 'hobby', 0 FROM (${numbers}) AS numbers`,
    );
    await stage.query("ANALYZE accounts");

    const queries: CompiledQuery[] = [];
    const watch: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        queries.push(db.getExecutor().compileQuery(node, queryId));
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const sizes: number[] = [];
    for await (const page of listAccounts(db.withPlugin(watch))) {
      sizes.push(page.length);
      expect(queries, "a page is printed before the next is read").toHaveLength(sizes.length);
    }
    expect(sizes).toEqual([...Array(20).fill(500), 100]);

    const explain = isPostgres ? "EXPLAIN" : "EXPLAIN QUERY PLAN";
    for (const query of queries.slice(0, 2)) {
      const { rows } = await db.executeQuery({ ...query, sql: `${explain} ${query.sql}` });
      expect(JSON.stringify(rows)).toMatch(
        /Index Scan using accounts_email_key|USING INDEX sqlite_autoindex_accounts_/,
      );
      expect(JSON.stringify(rows)).not.toMatch(/Seq Scan|Sort|TEMP B-TREE/);
    }
    await stage.clear();
  });
});
