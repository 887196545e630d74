import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { findAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { migrations, type SchemaChange } from "@/lib/db/migrations";
import { Store } from "@/lib/db/store";
import { startStage } from "@/tests/support/block";
import { alterDatabase, createDatabase } from "@/tests/support/databases";
import { buildEarlier, startProgram } from "@/tests/support/earlier-build";
import { engines, type Stage } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";

/** The release before, without its pages. */
const earlier = buildEarlier();
const tomorrow = { "999-tomorrow": ["alter table accounts add column shoe_size bigint"] };

describe.each(engines)("a build with another build's schema on $name", (engine) => {
  let stage: Stage;
  let stores: Store[];
  beforeEach(async () => {
    stage = await engine.prepare({ isEmpty: true });
    stores = [];
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await stage.clear();
  });

  function open(changes: Record<string, SchemaChange> = migrations): Store {
    const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
    const store = new Store({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR }, changes);
    stores.push(store);
    return store;
  }

  it("works after a newer build, and ignores its migrations", async () => {
    await open({ ...migrations, ...tomorrow }).ready();
    const db = await open().ready();
    await addAccount(db, "ceo@example.com", { plan: "licensed" }, Date.now());
    expect(await findAccount(db, "ceo@example.com")).toMatchObject({ plan: "licensed" });
  });

  it("migrates while an older build keeps working and writing", async () => {
    const older = await open().ready();
    await addAccount(older, "before@example.com", {}, Date.now());
    const newer = open({ ...migrations, ...tomorrow });
    const [taken] = await Promise.all([
      newer.migrate(),
      addAccount(older, "meanwhile@example.com", {}, Date.now()),
    ]);
    expect(taken).toEqual(["999-tomorrow"]);
    await addAccount(older, "after@example.com", {}, Date.now());
    const emails = (await stage.query("SELECT email FROM accounts ORDER BY email")).map(({ email }) => email);
    expect(emails).toEqual(["after@example.com", "before@example.com", "meanwhile@example.com"]);
    expect(await newer.migrate()).toEqual([]);
  });

  it("applies each migration once when several instances start at the same time", async () => {
    const taken = await Promise.all(Array.from({ length: 6 }, () => open().migrate()));
    expect(taken.flat().sort()).toEqual(Object.keys(migrations).sort());
  });

  it("applies a migration completely or not at all, and retries it the next time", async () => {
    let fails = true;
    const change = {
      async up(db: Kysely<unknown>) {
        await db.schema.createTable("shelves").addColumn("id", "text").execute();
        if (fails) throw new Error("the power went out");
      },
    };
    const store = open({ ...migrations, "999-tomorrow": change });
    await expect(store.ready()).rejects.toThrow("the power went out");
    await expect(stage.query("SELECT * FROM shelves")).rejects.toThrow();
    fails = false;
    await store.ready();
    expect(await stage.query("SELECT * FROM shelves")).toEqual([]);
  });

  it("creates an index again after an interrupted attempt", async () => {
    const indexes = { accounts_tried: "accounts (plan)" };
    await open().ready();
    await stage.query("CREATE INDEX accounts_tried ON accounts (created_at_ms)");
    await open({ ...migrations, "999-tomorrow": indexes }).ready();
    await expect(stage.query("CREATE INDEX accounts_tried ON accounts (plan)")).rejects.toThrow("exists");
  });
});

const postgresUrl = inject("postgresUrl");

describe.each(engines)("a store migrated by a future build, on $name", async (engine) => {
  let credits = 5;
  const added: string[] = [];

  const stage = await startStage(engine, { isEmpty: true });
  const today = await Service.make(stage.environment);
  afterAll(() => today.stop());
  if (earlier) {
    const before = await Service.make(today.environment, { folder: earlier });
    expect(await before.execute(["dist/admin/main.js", "migrate"])).toMatchObject({ code: 0 });
  }
  await today.adminJson("migrate");
  await today.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "5");
  const token = await today.token("ceo@example.com");
  await stage.query("INSERT INTO kysely_migration VALUES ('999-tomorrow', '2099-01-01T00:00:00.000Z')");
  await stage.query("ALTER TABLE accounts ADD COLUMN shoe_size bigint");

  const ask = async (service: Service, path: string, bearer: string) => {
    const { status, text } = await service.ask(path, { headers: { authorization: `Bearer ${bearer}` } });
    return [status, JSON.parse(text)];
  };

  it("works with this build, also when the column is added while it runs", async () => {
    await today.run();
    const answers = async () => expect((await ask(today, "/api/entitlement", token))[0]).toBe(200);
    for (let n = 0; n < 3; n++) await answers();
    await stage.query("ALTER TABLE accounts ADD COLUMN hat_size bigint");
    await answers();
    await today.kill();
  });

  it.runIf(earlier)(
    "works with the release before",
    async () => {
      const before = await Service.start(today.environment, {
        program: [join(String(earlier), startProgram(String(earlier)))],
      });
      const admin = async (...args: string[]) => {
        const ran = await before.execute([join(String(earlier), "dist/admin/main.js"), "--json", ...args]);
        expect(ran).toMatchObject({ code: 0, stderr: "" });
        return JSON.parse(ran.stdout);
      };
      expect(await ask(before, "/api/credits/balance", token)).toEqual([200, { credits }]);
      expect(
        (await ask(before, "/api/entitlement", (await admin("token", "ceo@example.com")).token))[0],
      ).toBe(200);
      const email = `${crypto.randomUUID()}@example.com`;
      await admin("account", "add", email, "--credits", "7");
      added.push(email);
      await admin("banner", "set", "promo", "Hello");
      await admin("credits", "add", "ceo@example.com", "1");
      credits++;
      await admin("keys", "rotate");
      await before.ready();
      expect(await admin("emails", "send-due")).toMatchObject({ failed: 0 });
      expect(await admin("migrate")).toEqual({ taken: [] });
      await before.stop();
    },
    120_000, // starts about ten processes
  );

  it("works with today's build, which continues with the data of the release before", async () => {
    if (!today.isRunning) await today.run();
    expect((await ask(today, "/api/entitlement", token))[0]).toBe(200);
    expect(await ask(today, "/api/credits/balance", token)).toEqual([200, { credits }]);
    expect(added).toHaveLength(earlier ? 1 : 0);
    for (const email of added) {
      expect(await ask(today, "/api/credits/balance", await today.token(email))).toEqual([
        200,
        { credits: 7 },
      ]);
    }
    await today.ready();
    expect(await today.adminJson("migrate")).toEqual({ taken: [] });
  });
});

describe.runIf(postgresUrl)("a migration of PostgreSQL", () => {
  it("has no deadline, and does not block readers and writers", {
    timeout: 60_000,
  }, async () => {
    const databaseUrl = await createDatabase(postgresUrl ?? "");
    const reader = new pg.Client(databaseUrl);
    await reader.connect();
    const store = new Store({ databaseUrl, dataDir: "" });
    const db = await store.ready();
    await addAccount(db, "ceo@example.com", {}, Date.now());
    await reader.query("BEGIN; SELECT * FROM accounts");
    const upgraded = new Store(
      { databaseUrl, dataDir: "" },
      {
        "998-tomorrow": ["alter table accounts add column shoe_size bigint", "select pg_sleep(3)"],
        "999-tomorrow": { accounts_shoes: "accounts (shoe_size)" },
      },
    );
    const taken = upgraded.migrate();
    // A migration that waited for its lock would block all of these.
    for (let n = 0; n < 20; n++) {
      await findAccount(db, "ceo@example.com");
      await sleep(100);
    }
    await reader.query("COMMIT");
    expect(await taken).toEqual(["998-tomorrow", "999-tomorrow"]);
    const indexes = await reader.query(
      "SELECT indisvalid FROM pg_index WHERE indexrelid = 'accounts_shoes'::regclass",
    );
    expect(indexes.rows).toEqual([{ indisvalid: true }]);
    await Promise.all([store.close(), upgraded.close(), reader.end()]);
  });
});

describe.runIf(postgresUrl)("a migration by a role with limits of time", () => {
  it("is not held to them, neither in its transaction nor for an index", async () => {
    const databaseUrl = await createDatabase(postgresUrl ?? "");
    const store = new Store({ databaseUrl, dataDir: "" });
    await addAccount(await store.ready(), "ceo@example.com", {}, Date.now());
    const limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
    for (const limit of limits) await alterDatabase(databaseUrl, `${limit} = '150ms'`);
    const upgraded = new Store(
      { databaseUrl, dataDir: "" },
      {
        "998-tomorrow": [
          `create function slowly(text) returns text immutable language plpgsql as
            'begin perform pg_sleep(0.3); return $1; end'`,
          "select pg_sleep(0.3)",
        ],
        "999-tomorrow": { accounts_slowly: "accounts (slowly(email))" },
      },
    );
    expect(await upgraded.migrate()).toEqual(["998-tomorrow", "999-tomorrow"]);
    await Promise.all([store.close(), upgraded.close()]);
  });
});

describe.runIf(postgresUrl)("the lock of migrations on PostgreSQL", () => {
  const add = {
    "998-tomorrow": ["alter table accounts add column shoe_size bigint"],
    "999-tomorrow": { accounts_shoes: "accounts (shoe_size)" },
  };

  it("is a row: it holds where every transaction is serializable", async () => {
    const databaseUrl = await createDatabase(postgresUrl ?? "");
    const admin = new pg.Client(databaseUrl);
    await admin.connect();
    const name = new URL(databaseUrl).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_isolation = serializable`);
    const stores = Array.from(
      { length: 6 },
      () => new Store({ databaseUrl, dataDir: "" }, { ...migrations, ...add }),
    );
    const taken = await Promise.all(stores.map((store) => store.migrate()));
    expect(taken.flat().sort()).toEqual(Object.keys({ ...migrations, ...add }).sort());
    await Promise.all([admin.end(), ...stores.map((store) => store.close())]);
  });
});
