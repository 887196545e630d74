import type { CompiledQuery, KyselyPlugin } from "kysely";
import { describe, expect, it } from "vitest";
import { parseAccount } from "@/lib/accounts/account";
import { listAccounts, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/invitations";
import { Store } from "@/lib/db/store";
import { engines } from "@/tests/support/engines";

const email = "ceo@example.com";

describe.each(engines)("concurrent changes of an account on $name", (engine) => {
  it("keep the changes of both operators when they set different terms", async () => {
    const stage = await engine.prepare();
    const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
    const stores = [1, 2, 3].map(() => new Store({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR }));
    const [first, second, third] = await Promise.all(stores.map((store) => store.ready()));
    if (!first || !second || !third) throw new Error("three stores");
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
    await Promise.all(stores.map((store) => store.close()));
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

const row = {
  id: "acc_1",
  email: "ceo@example.com",
  subject: "user_1",
  plan: "licensed",
  trial_ends_at_ms: null,
  assistant_limit: 12,
  credit_thousandths: 1500,
  created_at_ms: 1000,
  app_end_mails_stopped_at_ms: null,
  trial_mail_done_ms: null,
  trial_mail_next_at_ms: null,
  deletes_at_ms: null,
};

describe("parseAccount", () => {
  it("returns the fields of the row", () => {
    expect(parseAccount(row)).toEqual({
      id: "acc_1",
      email: "ceo@example.com",
      subject: "user_1",
      deletesAtMs: null,
      plan: "licensed",
      assistantLimit: 12,
      creditThousandths: 1500,
      createdAtMs: 1000,
    });
    expect(parseAccount({ ...row, plan: "trial", trial_ends_at_ms: 0, assistant_limit: null })).toMatchObject(
      {
        plan: "trial",
        trialEndsAtMs: 0,
        assistantLimit: null,
      },
    );
    expect(parseAccount({ ...row, subject: null, plan: "hobby" })).toMatchObject({
      subject: null,
      plan: "hobby",
    });
  });

  it.each([
    ["no id", { id: "" }],
    ["an id that is no text", { id: 1 }],
    ["an email that is none", { email: "ceo" }],
    ["a subject that is no text", { subject: 7 }],
    ["a plan that there is not", { plan: "platinum" }],
    ["a plan from above", { plan: "constructor" }],
    ["no plan", { plan: null }],
    ["a trial without an end", { plan: "trial" }],
    ["an end that is no number", { plan: "trial", trial_ends_at_ms: "2027" }],
    ["an end before 1970", { plan: "trial", trial_ends_at_ms: -1 }],
    ["half an assistant", { assistant_limit: 0.5 }],
    ["fewer assistants than none", { assistant_limit: -1 }],
    ["a balance below 0", { credit_thousandths: -1 }],
    ["a balance over the bound", { credit_thousandths: 1_000_000_000_000_001 }],
    ["a balance that is no number", { credit_thousandths: Number.NaN }],
    ["no beginning", { created_at_ms: undefined }],
  ])("returns undefined for %s", (_, changed) => {
    expect(parseAccount({ ...row, ...changed })).toBeUndefined();
  });

  it("returns undefined without a row", () => {
    expect(parseAccount(undefined)).toBeUndefined();
  });
});
