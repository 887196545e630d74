import { describe, expect, it } from "vitest";
import {
  listCreditEntries,
  parseThousandths,
  toCredits,
  writeCreditEntry,
} from "@/lib/accounts/credits/ledger";
import { auditedTransaction } from "@/lib/db/audit";
import { engines } from "@/tests/support/engines";

describe("parseThousandths", () => {
  it.each([
    ["0", 0],
    ["+12.5", 12_500],
    ["-5", -5000],
    ["-0.1", -100],
    ["999999999999.999", 999_999_999_999_999],
    ["1000000000000", 1_000_000_000_000_000],
  ])("parses %s exactly, and its number says the same", (text, thousandths) => {
    expect(parseThousandths(text)).toBe(thousandths);
    expect(parseThousandths(JSON.stringify(toCredits(thousandths)))).toBe(thousandths);
  });

  it.each(["", "1.", ".5", "1e3", "1.2345", "NaN", "1000000000000.001"])(
    "returns undefined for %j",
    (text) => {
      expect(parseThousandths(text)).toBeUndefined();
    },
  );

  it.each(["1.000", "2.500", "-10.000", "+12.250", "1,000", "1.000,5", "1'000"])(
    "returns undefined for %s, which is thousands where others write them so",
    (text) => {
      expect(parseThousandths(text)).toBeUndefined();
    },
  );
});

describe.each(engines)("the list of a ledger on $name", (engine) => {
  it("has every entry once, also where a page ends between entries of one instant", async () => {
    const stage = await engine.prepare();
    await stage.query(
      "INSERT INTO accounts (id, email, plan, created_at_ms) VALUES ('acc_1', 'ceo@example.com', 'hobby', 0)",
    );
    // In an order that is not that of their ids.
    const entries = Array.from(
      { length: 1001 },
      (_, at) => `('${(at * 10) % 1001}', 'acc_1', 1000, 'a test', 0)`,
    );
    await stage.query(
      `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms) VALUES ${entries.join()}`,
    );
    const balances: number[] = [];
    for await (const page of listCreditEntries(await stage.open(), "acc_1")) {
      balances.push(...page.map(({ balance }) => Number(balance)));
    }
    expect(balances).toEqual(Array.from({ length: 1001 }, (_, at) => at + 1));
    await stage.clear();
  });

  it("has each entry after those that were written before, although an earlier instant was given", async () => {
    const stage = await engine.prepare();
    await stage.query(
      "INSERT INTO accounts (id, email, plan, created_at_ms) VALUES ('acc_1', 'ceo@example.com', 'hobby', 0)",
    );
    const db = await stage.open();
    const write = (thousandths: number, atMs: number) =>
      auditedTransaction(
        db,
        { by: "service", what: "credits add", whom: "acc_1", readState: async () => thousandths },
        atMs,
        (transaction) =>
          writeCreditEntry(transaction, { account_id: "acc_1", thousandths, reason: "a test" }, atMs),
      );
    for (const [thousandths, atMs] of [
      [500, 2000],
      [-500, 1000],
      [300, 2000],
      [-300, 2000],
      [200, 2001],
    ] as const)
      await write(thousandths, atMs);
    const balances: unknown[] = [];
    for await (const page of listCreditEntries(db, "acc_1"))
      balances.push(...page.map(({ balance }) => balance));
    expect(balances).toEqual([0.5, 0, 0.3, 0, 0.2]);
    await stage.clear();
  });
});
