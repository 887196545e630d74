import { describe, expect, it } from "vitest";
import { searchAccounts } from "@/lib/accounts/list/account-search";
import { startStageForEach } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { numbersTo, watchQueries } from "@/tests/support/watched-queries";

describe.each(engines)("a search of accounts on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);
  const make = (many: number) =>
    stage.query(
      `INSERT INTO accounts (id, email, plan, created_at_ms, credit_thousandths)
       SELECT 'acc_' || n, 'user-' || n || '@company-' || (n % 10) || '.example', 'hobby', 1, 0 FROM ${numbersTo(many)}`,
    );
  const emailsIn = ({ rows }: { rows: { email: string }[] }) => rows.map(({ email }) => email);

  it("looks at so many accounts in slices, says where it stopped, and goes on there", async () => {
    await make(100);
    await stage.query("UPDATE accounts SET reference = 'Ref ' || id WHERE id IN ('acc_55', 'acc_99')");
    const bounds = { slice: 10, slices: 3 };
    const found: string[] = [];
    let after: string | undefined;
    let searches = 0;
    do {
      const search = await searchAccounts(db, { text: "REF ACC_", after }, 51, bounds);
      found.push(...emailsIn(search));
      after = search.goesOnAfter;
      searches++;
    } while (after !== undefined);
    expect([searches, found]).toEqual([4, ["user-55@company-5.example", "user-99@company-9.example"]]);
  });

  it("finds each once where a page ends within a slice", async () => {
    await make(100);
    const bounds = { slice: 7, slices: 100 };
    const text = "-3.example";
    const first = await searchAccounts(db, { text }, 6, bounds);
    const second = await searchAccounts(db, { text, after: first.rows.at(-1)?.email }, 6, bounds);
    const found = [...emailsIn(first), ...emailsIn(second)];
    expect([first.goesOnAfter, found.length, new Set(found).size]).toEqual([undefined, 10, 10]);
  });

  it("finds by a former email who has another one now, unless someone has it", async () => {
    await make(2);
    await stage.query(
      `INSERT INTO email_changes (id, account_id, from_email, to_email, mailbox_hash, asked_at_ms, until_ms, changed_at_ms)
       VALUES ('1', 'acc_1', 'old@example.com', 'user-1@company-1.example', 'x', 1, 0, 1),
        ('2', 'acc_1', 'user-2@company-2.example', 'user-1@company-1.example', 'x', 1, 0, 1),
        ('3', 'acc_2', 'asked@example.com', 'other@example.com', 'x', 1, 0, NULL)`,
    );
    const find = async (text: string, state?: "trial") =>
      emailsIn(await searchAccounts(db, { text, state }, 51));
    expect(await find("Old <old@example.com>")).toEqual(["user-1@company-1.example"]);
    expect(await find("old@example.com", "trial")).toEqual([]);
    expect(await find("user-2@company-2.example")).toEqual(["user-2@company-2.example"]);
    expect(await find("asked@example.com")).toEqual([]);
  });

  it("looks through all with the characters of patterns as they are, each slice in the index of the emails", async () => {
    await make(3000);
    await stage.query("ANALYZE accounts");
    const { watched, queries, planOf } = watchQueries(db);
    const search = await searchAccounts(watched, { text: "100%_\\" }, 51, { slice: 1000, slices: 10 });
    expect([search.rows, search.goesOnAfter]).toEqual([[], undefined]);
    // PostgreSQL reads the whole table where a slice is a third of it.
    if (engine.name !== "PostgreSQL") {
      for (const query of queries.slice(1)) expect(await planOf(query)).not.toContain("TEMP B-TREE");
    }
  });
});
