import { describe, expect, it } from "vitest";
import { listAccounts, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { startStageForEach } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { numbersTo, watchQueries } from "@/tests/support/watched-queries";

const email = "ceo@example.com";

describe.each(engines)("accounts on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);

  it("keep the concurrent changes of operators when they set different terms", async () => {
    const [first, second, third] = [db, await stage.open(), await stage.open()];
    const nowMs = Date.now();
    await addAccount(first, email, { plan: "trial" }, nowMs);
    for (let n = 1; n <= 20; n++) {
      const trialEndsAtMs = nowMs + n;
      await Promise.all([
        setAccount(first, email, { assistant_limit: n }, nowMs),
        setAccount(second, email, { trial_ends_at_ms: trialEndsAtMs }, nowMs),
        setAccount(third, email, { credit_thousandths: n }, nowMs),
      ]);
      const [row] = await stage.query("SELECT * FROM accounts");
      expect([row?.assistant_limit, row?.trial_ends_at_ms, row?.credit_thousandths].map(Number)).toEqual([
        n,
        trialEndsAtMs,
        n,
      ]);
    }
  });

  it("are searched for a text as it is typed", async () => {
    for (const name of ["a_b", "axb"]) await addAccount(db, `${name}@example.com`, {}, Date.now());
    const found: string[] = [];
    for await (const page of listAccounts(db, { containing: "A_b" }))
      found.push(...page.map(({ email }) => email));
    expect(found).toEqual(["a_b@example.com"]);
  });

  it("are read 500 at a time, in the order of an index", async () => {
    await stage.query(
      `INSERT INTO accounts (id, email, plan, created_at_ms)
       SELECT 'acc_' || n, n || '@example.com', 'hobby', 0 FROM ${numbersTo(10_100)}`,
    );
    await stage.query("ANALYZE accounts");

    const { watched, queries, planOf } = watchQueries(db);
    const sizes: number[] = [];
    for await (const page of listAccounts(watched)) {
      sizes.push(page.length);
      expect(queries, "a page is printed before the next is read").toHaveLength(sizes.length);
    }
    expect(sizes).toEqual([...Array(20).fill(500), 102]); // with those who stand by

    const pages = await Array.fromAsync(listAccounts(db, { after: "10@example.com" }, 1200));
    const later = pages.flat().map(({ email }) => email);
    expect(later).toHaveLength(1200);
    expect(later).toEqual([...new Set(later)].sort());

    for (const query of queries.slice(0, 2)) {
      const plan = await planOf(query);
      expect(plan).toMatch(/Index Scan using accounts_email_|USING INDEX sqlite_autoindex_accounts_/);
      expect(plan).not.toMatch(/Seq Scan|Sort|TEMP B-TREE/);
    }
  });
});
