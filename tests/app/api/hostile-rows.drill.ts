import { afterAll, describe, expect, it } from "vitest";
import { type Operation, operations } from "@/lib/http/register/operations";
import { borrowService } from "@/tests/support/block";
import { expectAnswer } from "@/tests/support/contract";
import { engines } from "@/tests/support/engines";

const { entitlement, creditsBalance } = operations;

/** The fourth is the first millisecond that no Date has. */
const numbers = [0n, 1n, 253_402_300_800_000n, 8_640_000_000_000_001n, 2n ** 53n, 2n ** 63n - 1n];

/** SQL literals. SQLite takes each in any column, PostgreSQL those of the column's type. */
const hostile = [
  "NULL",
  "''",
  "'x'",
  "'trial'",
  "'NaN'",
  `'${"é🙂".repeat(5000)}'`,
  ...numbers.flatMap((number) => [`${number}`, `-${number}`]),
  "1.5",
  "1e308",
  "9e999",
  "x'00ff'",
];

describe.each(engines)("an account whose row holds anything, on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  afterAll(() => service.takeErrors());
  let headers: Record<string, string>;

  async function signIn(): Promise<void> {
    await stage.query("DELETE FROM accounts");
    await service.adminJson("account", "add", "odd@example.com", "--trial-days", "7");
    headers = { Authorization: `Bearer ${await service.token("odd@example.com")}` };
  }

  /** Stores a value, if the store takes it there. */
  const store = (table: string, column: string, value: string) =>
    stage.query(`UPDATE ${table} SET ${column} = ${value}`).then(
      () => true,
      () => false,
    );

  const ask = (operation: Operation) => service.ask(operation.path, { headers });

  it.each(["accounts", "local_sessions"])(
    "gets no 500 and no answer that is not documented, whatever any column of %s holds",
    { timeout: 180_000 },
    async (table) => {
      await signIn();
      for (const column of Object.keys((await stage.query(`SELECT * FROM ${table}`))[0] ?? {})) {
        await signIn();
        for (const value of hostile) {
          if (!(await store(table, column, value))) continue;
          const [entitled, balance] = [await ask(entitlement), await ask(creditsBalance)];
          const told = `${column} ${value.slice(0, 30)}: ${entitled.text} ${balance.text}`;
          expect([200, 401, 403, 503], told).toContain(entitled.status);
          expect([200, 401, 503], told).toContain(balance.status);
          expectAnswer(service, entitlement, entitled, entitled.status as 200);
          expectAnswer(service, creditsBalance, balance, balance.status as 200);
          // Both read the same row.
          const isTrialEnded = entitled.text.includes("trial-ended");
          expect(balance.status === 200, told).toBe(entitled.status === 200 || isTrialEnded);
        }
      }
    },
  );
});
