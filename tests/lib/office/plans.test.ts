import { CompiledQuery, type Dialect, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { readOverview } from "@/lib/accounts/list/overview";
import { sqliteDialect } from "@/lib/db/sqlite/dialect";
import type { Tables } from "@/lib/db/tables";
import { account } from "@/lib/office/account";
import { accounts } from "@/lib/office/accounts";
import { announcement } from "@/lib/office/announcement";
import { audit } from "@/lib/office/audit";
import { customers } from "@/lib/office/customers";
import { mails } from "@/lib/office/mails";
import type { OfficePage } from "@/lib/office/page";
import { plans } from "@/lib/office/plans";
import { waiting } from "@/lib/office/waitlist";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { emailOfMany, manyAccounts } from "@/tests/support/many-accounts";

const many = 20_000;
const nowMs = Date.now();

/** The pages, by what an operator asks of them. Today shows only what `readOverview` has counted. */
const asked: [page: OfficePage, input: Record<string, string>][] = [
  [accounts, {}],
  [accounts, { after: "user-5" }],
  [accounts, { start: "user-77" }],
  [accounts, { start: "user-77", plan: "hobby" }],
  [accounts, { plan: "hobby", after: "user-5" }],
  [accounts, { reference: "customer" }],
  [accounts, { reference: "customer", after: "a customer" }],
  [accounts, { state: "trial-ended" }],
  [accounts, { trials: "running" }],
  [accounts, { trials: "ended", after: `${nowMs} user-5` }],
  [account, { email: emailOfMany(many) }],
  [customers, {}],
  [customers, { after: `${nowMs - 1e9} acc_5` }],
  [customers, { filter: "past-due" }],
  [customers, { filter: "unpaid", find: "user-1" }],
  [customers, { filter: "unfinished" }],
  [customers, { filter: "paused" }],
  [customers, { filter: "ending" }],
  [customers, { filter: "refunded" }],
  [customers, { filter: "disputed" }],
  [customers, { filter: "unknown" }],
  [customers, { find: "user-77" }],
  [customers, { find: "cus_77" }],
  [customers, { find: "sub_77" }],
  [customers, { find: "cs_77" }],
  [waiting, {}],
  [waiting, { after: `${nowMs - 1e9} waits-1` }],
  [mails, {}],
  [announcement, {}],
  [audit, {}],
  [audit, { after: `${nowMs - 1e9} entry-1` }],
  [audit, { who: "operator ann" }],
  [audit, { who: "no one", what: "sign in" }],
  [audit, { what: "account set", day: "2026-11-01" }],
  [audit, { whom: emailOfMany(many), who: "owner" }],
  [plans, {}],
];

describe.each(engines)("a page of the office on $name", async (engine) => {
  const queries: { sql: string; parameters: readonly unknown[] }[] = [];

  afterAll(() => db.destroy());
  const stage = await startStage(engine, { isAlone: true });
  const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
  await (await stage.open()).selectFrom("accounts").select("id").limit(1).execute();
  for (const statement of manyAccounts(many, nowMs)) await stage.query(statement);
  await stage.query("ANALYZE");
  // PostgreSQL reads small tables whole, unless it is told to use indexes wherever there is one.
  const dialect: Dialect = DATABASE_URL
    ? new PostgresDialect({
        pool: new pg.Pool({ connectionString: DATABASE_URL, options: "-c enable_seqscan=off" }),
      })
    : sqliteDialect(`${DATA_DIR}/store.sqlite`, 2000);
  const db = new Kysely<Tables>({ dialect, log: ({ query }) => void queries.push(query) });

  /** The steps of a plan that read a table from its beginning to its end. */
  async function wholeReads({ sql, parameters }: (typeof queries)[number]): Promise<string[]> {
    const explain = `EXPLAIN ${stage.environment.DATABASE_URL ? "" : "QUERY PLAN "}${sql}`;
    const query = CompiledQuery.raw(explain, [...parameters]);
    const { rows } = await db.executeQuery<Record<string, string>>(query);
    const steps = rows.map((row) => row.detail ?? row["QUERY PLAN"] ?? "");
    // The plans are fifty at most, and have few prices.
    return steps.filter((step) =>
      /Seq Scan on (?!plans|billing_licence_prices)|^SCAN (?!plans|billing_licence_prices|.*USING|newest|found|agg|CONSTANT|\(|\d)/.test(
        step.trim(),
      ),
    );
  }

  it.each(asked)("$path $1 asks at most three queries, and none reads a whole table", async (page, input) => {
    queries.length = 0;
    await page.show({
      db,
      by: "operator ann",
      nowMs,
      input: (name) => input[name],
      typed: () => undefined,
    });
    const made = [...queries];
    expect(made.length).toBeLessThanOrEqual(3); // the session is the fourth
    for (const query of made) expect(await wholeReads(query), query.sql).toEqual([]);
  });

  it("the overview is counted in indexes", async () => {
    queries.length = 0;
    await readOverview(db, nowMs);
    const made = [...queries];
    expect(made.length).toBeGreaterThan(0);
    for (const query of made) {
      const reads = (await wholeReads(query)).filter((step) => !/waitlist|sign_in_mails/.test(step));
      expect(reads, query.sql).toEqual([]);
    }
  });
});
