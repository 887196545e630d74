import { describe, expect, inject, it } from "vitest";
import { addCredits, findAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { lockEmail } from "@/lib/auth/codes/sign-in-code-limits";
import { Store } from "@/lib/db/store";
import { repeatConflicts, transact } from "@/lib/db/transaction";
import { alterDatabase, createDatabase } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

const postgresUrl = inject("postgresUrl");
const email = "ceo@example.com";

describe.runIf(postgresUrl)("a transaction that PostgreSQL undoes because it met another", () => {
  it("is repeated until it is done, where every transaction is serializable", async () => {
    const databaseUrl = await createDatabase(postgresUrl ?? "", inject("postgresTemplate"));
    await alterDatabase(databaseUrl, "default_transaction_isolation = serializable");
    const store = new Store({ databaseUrl, dataDir: "" });
    const db = await store.ready();
    await addAccount(db, email, {}, Date.now());
    const add = () => addCredits(db, email, { thousandths: 1000, reason: "a test" }, Date.now());
    await Promise.all(Array.from({ length: 6 }, add));
    expect((await findAccount(db, email)).credit_thousandths).toBe(6000);
    await store.close();
  });

  it("is repeated after a deadlock", async () => {
    const databaseUrl = await createDatabase(postgresUrl ?? "", inject("postgresTemplate"));
    await alterDatabase(databaseUrl, "deadlock_timeout = 50");
    const store = new Store({ databaseUrl, dataDir: "" });
    const db = await store.ready();
    const holds = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() };
    const lockBoth = (first: "a" | "b", second: "a" | "b") =>
      transact(db, async (transaction) => {
        await lockEmail(transaction, first);
        holds[first].resolve();
        await holds[second].promise;
        await lockEmail(transaction, second);
      });
    await Promise.all([lockBoth("a", "b"), lockBoth("b", "a")]);
    await store.close();
  });

  it("is done once for its caller, and counted in a metric", async () => {
    const metricsPort = await reservePort();
    const stage = await everyEngine[1]?.prepare();
    if (!stage) throw new Error("PostgreSQL is not installed");
    const service = await Service.start({ ...stage.environment, METRICS_PORT: String(metricsPort) });
    await service.adminJson("account", "add", email);
    const link = await service.unsubscribePath(email);
    expect((await service.ask(link, { method: "POST" })).status).toBe(200);
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(text).toMatch(/^corner_office_store_repeats_total\{state="40001"\} [1-9]\d*$/m);
    await service.stop();
    await stage.clear();
  });
});

it("lets others have their turn before it repeats what was undone", async () => {
  let turns = 0;
  const tries: number[] = [];
  const undone = Object.assign(new Error("undone"), { code: "40001" });
  const repeated = repeatConflicts(async () => {
    tries.push(turns);
    if (tries.length < 5) throw undone;
  });
  const count = setInterval(() => turns++, 0);
  await repeated;
  clearInterval(count);
  expect(new Set(tries).size).toBeGreaterThan(2);
});
