import { beforeEach, describe, expect, it } from "vitest";
import { readOverview } from "@/lib/accounts/overview";
import { account } from "@/lib/office/account";
import { accounts } from "@/lib/office/accounts";
import { announcement } from "@/lib/office/announcement";
import { audit } from "@/lib/office/audit";
import { mails } from "@/lib/office/mails";
import type { OfficePage } from "@/lib/office/page";
import { waiting } from "@/lib/office/waiting";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { emailOfMany, manyAccounts } from "@/tests/support/many-accounts";
import { watchQueries } from "@/tests/support/watched-queries";

const many = 20_000;
const nowMs = Date.now();

/** The pages, by what an operator asks of them. Today shows only what `readOverview` has counted. */
const asked: [page: OfficePage, input: Record<string, string>][] = [
  [accounts, {}],
  [accounts, { after: "user-5" }],
  [accounts, { start: "user-77" }],
  [accounts, { start: "user-77", plan: "hobby" }],
  [accounts, { plan: "hobby", after: "user-5" }],
  [accounts, { trials: "running" }],
  [accounts, { trials: "ended", after: `${nowMs} user-5` }],
  [account, { email: emailOfMany(many) }],
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
];

describe.each(engines)("a page of the office on $name", async (engine) => {
  const stage = await startStage(engine);
  for (const statement of manyAccounts(many, nowMs)) await stage.query(statement);
  await stage.query("ANALYZE");
  const { DATABASE_URL } = stage.environment;
  // PostgreSQL reads small tables whole, unless it is told to use indexes wherever there is one.
  if (DATABASE_URL)
    await stage.query(`ALTER DATABASE ${new URL(DATABASE_URL).pathname.slice(1)} SET enable_seqscan = off`);
  const { watched: db, queries, planOf } = watchQueries(await stage.open());
  beforeEach(() => {
    queries.length = 0;
  });

  /** The steps of a plan that read a table from its beginning to its end. */
  async function wholeReads(query: (typeof queries)[number]): Promise<string[]> {
    const rows: Record<string, string>[] = JSON.parse(await planOf(query));
    const steps = rows.map((row) => row.detail ?? row["QUERY PLAN"] ?? "");
    return steps.filter((step) =>
      /Seq Scan on|^SCAN (?!.*USING|newest|agg|CONSTANT|\(|\d)/.test(step.trim()),
    );
  }

  it.each(asked)("$path $1 asks at most two queries, and none reads a whole table", async (page, input) => {
    await page.show({
      db,
      by: "operator ann",
      nowMs,
      input: (name) => input[name],
      typed: () => undefined,
    });
    expect(queries.length).toBeLessThanOrEqual(2); // the session is the third
    for (const query of queries) expect(await wholeReads(query), query.sql).toEqual([]);
  });

  it("the overview is counted in indexes", async () => {
    await readOverview(db, nowMs);
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) {
      const reads = (await wholeReads(query)).filter((step) => !/waitlist|sign_in_mails/.test(step));
      expect(reads, query.sql).toEqual([]);
    }
  });
});
