import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { findAccount } from "@/lib/accounts/accounts";
import { readCaller } from "@/lib/accounts/caller";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { connectionOptions } from "@/lib/db/postgres/connection";
import { type Way, waysTo } from "@/lib/db/postgres/tls";
import { type Db, Store } from "@/lib/db/store";
import { isOutage } from "@/lib/db/store-outage";
import { transact } from "@/lib/db/transaction";
import { operations } from "@/lib/http/register/operations";
import { outageSince } from "@/lib/runtime/dependency-outages";
import { log } from "@/lib/runtime/log";
import { readinessProblems } from "@/lib/runtime/readiness";
import {
  alterDatabase,
  besideDatabaseUrl,
  createDatabase,
  eventually,
  queryOnce,
  signalPostgres,
  startPostgres,
  stopDatabase,
} from "@/tests/support/databases";
import { type Refusal, startManagedPooler } from "@/tests/support/managed-pooler";
import { hasPgBouncer, startPgBouncer } from "@/tests/support/pgbouncer";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

const postgresUrl = inject("postgresUrl") ?? "";
const ways = [
  { way: "PostgreSQL", reach: async (databaseUrl: string) => databaseUrl },
  ...(hasPgBouncer
    ? [
        {
          way: "PostgreSQL behind a PgBouncer that refuses settings",
          reach: (url: string) => startPgBouncer(url),
        },
        {
          way: "PostgreSQL behind a PgBouncer that drops settings",
          reach: (url: string) => startPgBouncer(url, { dropsSettings: true }),
        },
      ]
    : []),
];

describe.runIf(postgresUrl).each(ways)("$way", ({ reach }) => {
  let databaseUrl: string;
  let url: string;
  /** A separate connection, outside the pool. */
  let other: pg.Client;
  let stores: Store[];
  let db: Db;
  let email: string;

  beforeAll(async () => {
    databaseUrl = await createDatabase(postgresUrl);
    url = await reach(databaseUrl);
  });
  beforeEach(async () => {
    email = `${crypto.randomUUID()}@example.com`;
    other = new pg.Client(databaseUrl);
    await other.connect();
    stores = [];
    db = await open().ready();
    await addAccount(db, email, {}, Date.now());
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await other.end();
  });

  function open(settings: Partial<ConstructorParameters<typeof Store>[0]> = {}): Store {
    const store = new Store({ databaseUrl: url, databaseDirectUrl: databaseUrl, dataDir: "", ...settings });
    stores.push(store);
    return store;
  }

  const count = async (condition: string) => {
    const { rows } = await other.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
    );
    return rows[0].n as number;
  };

  it("leaves no statement running when a table is locked, and stays within the connection limit", async () => {
    await other.query("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
    const startedAtMs = performance.now();
    for (let round = 0; round < 2; round++) {
      const reads = Array.from({ length: 15 }, () => findAccount(db, email));
      const outcomes = await Promise.allSettled(reads);
      expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
      expect(await count("true")).toBeLessThanOrEqual(10);
    }
    expect(performance.now() - startedAtMs).toBeLessThan(2 * 2500);
    await eventually(async () => expect(await count("wait_event_type = 'Lock'")).toBe(0));
    await other.query("COMMIT");
    expect((await findAccount(db, email)).email).toBe(email);
  });

  it("ends the transaction of an unreachable client and releases its locks", async () => {
    const port = await reservePort();
    const proxy = await startTcpProxy(Number(new URL(url).port), port);
    const behind = new URL(url);
    behind.port = String(port);
    const cut = await open({ databaseUrl: behind.href }).ready();
    let goOn = () => {};
    const waits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const writing = cut
      .withoutPlugins()
      .transaction()
      .execute(async (transaction) => {
        await transaction.updateTable("accounts").set({ assistant_limit: 1 }).execute();
        proxy.freeze();
        await waits;
      });
    await eventually(async () => expect(await count("state = 'idle in transaction'")).toBe(1));
    const startedAtMs = performance.now();
    await eventually(() => db.withoutPlugins().updateTable("accounts").set({ assistant_limit: 2 }).execute());
    expect(performance.now() - startedAtMs).toBeLessThan(3000);
    goOn();
    await expect(writing).rejects.toThrow();
    expect((await findAccount(db, email)).assistant_limit).toBe(2);
    await proxy.cut();
  });

  it("survives when the server closes a used or an idle connection", async () => {
    const end = () =>
      other.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    const writing = db
      .withoutPlugins()
      .transaction()
      .execute(async (transaction) => {
        await transaction.updateTable("accounts").set({ assistant_limit: 1 }).execute();
        await end();
        await sleep(100);
        await transaction.updateTable("accounts").set({ assistant_limit: 2 }).execute();
      });
    await expect(writing).rejects.toThrow();
    await eventually(() => findAccount(db, email));
    await end();
    await sleep(100);
    expect((await eventually(() => findAccount(db, email))).assistant_limit).toBeNull();
  });

  it("answers a frequent read of every instance, whatever their address does not say", async () => {
    // Behind a pooler that nothing told us of, both have the same connection of the server.
    const [one, other] = [open({ databaseDirectUrl: url }), open({ databaseDirectUrl: url })];
    const named = { subject: "user_reader", sessionId: "", keyId: "", nowMs: Date.now() };
    const { id } = await addAccount(db, "reader@example.com", { subject: named.subject }, named.nowMs);
    for (const instance of [await one.ready(), await other.ready(), await one.ready()]) {
      expect((await readCaller(instance, named))?.id).toBe(id);
    }
  });

  it("takes the way of a pooler where servers do not know what another was told, in whatever is in work", async () => {
    const store = open({ databaseDirectUrl: url, databasePool: 3 });
    const instance = await store.ready();
    const named = { subject: "user_moved", sessionId: "", keyId: "", nowMs: Date.now() };
    const { id } = await addAccount(instance, "moved@example.com", { subject: named.subject }, named.nowMs);
    /** On three connections at once. */
    const each = <T>(work: (on: Db) => Promise<T>) =>
      Promise.all(
        [1, 2, 3].map(() =>
          transact(instance.withoutPlugins(), async (on) => {
            await sql`SELECT pg_sleep(0.1)`.execute(on);
            return work(on);
          }),
        ),
      );
    const read = async (on: Db) => (await readCaller(on, named))?.id;
    expect(await each(read)).toEqual([id, id, id]);
    await each((on) => sql`DEALLOCATE ALL`.execute(on));
    expect(await Promise.all([read(instance), each(read), read(instance)])).toEqual([id, [id, id, id], id]);
  });

  it("starts eight instances at once, on an empty database and on a migrated one", async () => {
    const empty = await createDatabase(postgresUrl);
    for (const fresh of [await reach(empty), url]) {
      const starts = Array.from({ length: 8 }, () => open({ databaseUrl: fresh, databaseDirectUrl: fresh }));
      await Promise.all(starts.map((store) => store.ready()));
      const locks = await other.query(
        "SELECT 1 FROM pg_locks JOIN pg_database ON oid = database WHERE locktype = 'advisory' AND datname = $1",
        [new URL(fresh).pathname.slice(1)],
      );
      expect(locks.rows).toEqual([]);
    }
  });
});

describe.runIf(postgresUrl)("the connections to PostgreSQL", () => {
  const email = "ceo@example.com";

  it("are at most DATABASE_POOL", async () => {
    const databaseUrl = await createDatabase(postgresUrl);
    const store = new Store({ databaseUrl, databasePool: 3, dataDir: "" });
    const db = await store.ready();
    const client = new pg.Client(databaseUrl);
    await client.connect();
    const count = async () => {
      const { rows } = await client.query(
        `SELECT count(*)::int AS n FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      );
      return rows[0].n;
    };
    // The migration's connection closes afterwards.
    await eventually(async () => expect(await count()).toBeLessThanOrEqual(1));
    await client.query("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
    const reads = Array.from({ length: 9 }, () => findAccount(db, email).catch(() => {}));
    await sleep(500);
    expect(await count()).toBe(3);
    await client.end();
    await Promise.all(reads);
    await store.close();
  });

  it("lead to the database of this name, whatever is in it", async () => {
    const name = `${crypto.randomUUID()} +&:@/?#%41`;
    await queryOnce(postgresUrl, `CREATE DATABASE "${name}" TEMPLATE ${inject("postgresTemplate")}`);
    const databaseUrl = postgresUrl.replace(/\/postgres$/, `/${encodeURIComponent(name)}`);
    const store = new Store({ databaseUrl, dataDir: "" });
    await addAccount(await store.ready(), email, {}, Date.now());
    await store.close();
    expect(await queryOnce(postgresUrl, `SELECT 1 FROM pg_database WHERE datname = '${name}'`)).toHaveLength(
      1,
    );
  });

  it("keep to their sslmode where TLS begins at once", () => {
    for (const [sslmode, rejectUnauthorized] of [
      ["require", false],
      ["verify-full", true],
    ]) {
      const [way] = waysTo(`postgres://db/office?sslmode=${sslmode}&sslnegotiation=direct`);
      const { ssl, connectionParameters } = new pg.Client(connectionOptions(way as Way)) as unknown as {
        ssl: object;
        connectionParameters: object;
      };
      expect(ssl).toMatchObject({ rejectUnauthorized });
      expect(connectionParameters).toMatchObject({ sslnegotiation: "direct" });
    }
  });

  it.runIf(process.platform === "linux")("are probed after a minute of silence", async () => {
    const databaseUrl = await createDatabase(postgresUrl, inject("postgresTemplate"));
    const store = new Store({ databaseUrl, dataDir: "" });
    await store.ready();
    const to = Number(new URL(databaseUrl).port).toString(16).toUpperCase().padStart(4, "0");
    // Linux: Documentation/networking/proc_net_tcp.rst
    const probes = /^ *\d+: \w+:\w+ \w+:(\w+) 01 \w+:\w+ 02:(\w+)/gm;
    await eventually(() => {
      const due = [...readFileSync("/proc/self/net/tcp", "utf8").matchAll(probes)]
        .filter(([, port]) => port === to)
        .map(([, , ticks = ""]) => Number.parseInt(ticks, 16) / 100);
      expect(Math.min(...due)).toBeLessThanOrEqual(60);
    });
    await store.close();
  });

  it("take the way of a pooler where it refuses our settings in the words of Amazon's RDS Proxy", async () => {
    const databaseUrl = await createDatabase(postgresUrl, inject("postgresTemplate"));
    const refusal = [
      "0A000",
      "Feature not supported: RDS Proxy currently doesn't support the option statement_timeout.",
    ] as const;
    const pooled = await startManagedPooler(databaseUrl, (sent) =>
      sent.includes("statement_timeout\0") ? refusal : undefined,
    );
    const store = new Store({ databaseUrl: pooled, dataDir: "" });
    await addAccount(await store.ready(), email, {}, Date.now());
    expect((await findAccount(await store.ready(), email)).email).toBe(email);
    await store.close();
  });

  it("are a fault to check where a pooler leads some reads to a standby (bitnami/charts#2483)", async () => {
    const direct = await createDatabase(postgresUrl, inject("postgresTemplate"));
    const port = await reservePort();
    let connections = 0;
    const proxy = await startTcpProxy(Number(new URL(direct).port), port, () => {
      const isOfStandby = connections++ % 4 === 3;
      const rowOf = (value: string) => {
        const column = `\0\x01\0\0\0${String.fromCharCode(value.length)}${value}`;
        return `D\0\0\0${String.fromCharCode(4 + column.length)}${column}`;
      };
      const asStandby = (bytes: Buffer) =>
        Buffer.from(bytes.toString("latin1").replace(rowOf("off"), rowOf("on")), "latin1");
      return { toServer: (bytes) => bytes, toClient: isOfStandby ? asStandby : (bytes) => bytes };
    });
    const pooled = new URL(direct);
    pooled.port = String(port);
    pooled.searchParams.set("sslmode", "disable");
    const environment = { DATABASE_DIRECT_URL: direct, ...besideDatabaseUrl };
    const behind = await Service.make({ DATABASE_URL: pooled.href, ...environment });
    expect(await behind.check("store")).toMatchObject({
      works: false,
      detail: expect.stringMatching(/^reads are led to a standby/),
      remedy: expect.stringContaining("load_balance_mode = off"),
    });
    const alone = await Service.make({ DATABASE_URL: direct, ...environment });
    expect(await alone.check("store")).toMatchObject({ works: true, detail: "PostgreSQL answers" });
    await proxy.cut();
  });

  it("are an outage while a pooler has none, whatever it says, at first and later", async () => {
    const databaseUrl = await createDatabase(postgresUrl, inject("postgresTemplate"));
    let refusal: Refusal | undefined = ["XX000", "MaxClientsInSessionMode: max clients reached"];
    const pooled = await startManagedPooler(databaseUrl, () => refusal);
    const store = new Store({ databaseUrl: pooled, databasePool: 1, dataDir: "" });
    expect(isOutage(await store.ready().catch((failure) => failure))).toBe(true);
    refusal = undefined;
    const db = await store.ready();
    refusal = ["28P01", "usuario no autenticado", "FATALE"]; // as `lc_messages` has it
    await queryOnce(
      databaseUrl,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()",
    );
    for (let n = 0; n < 2; n++)
      expect(isOutage(await findAccount(db, email).catch((failure) => failure))).toBe(true);
    refusal = undefined;
    await addAccount(db, email, {}, Date.now());
    refusal = ["XX000", "DbHandler exited"];
    expect(isOutage(await findAccount(db, email).catch((failure) => failure))).toBe(true);
    refusal = undefined;
    expect((await findAccount(db, email)).email).toBe(email);
    await store.close();
  });

  it("are an outage at a host that accepts no writes and does not say how old its data are", async () => {
    const databaseUrl = await createDatabase(postgresUrl, inject("postgresTemplate"));
    await queryOnce(
      databaseUrl,
      `CREATE FUNCTION public.pg_is_in_recovery() RETURNS boolean LANGUAGE plpgsql AS
       'BEGIN RAISE feature_not_supported USING MESSAGE = ''currently not supported for Aurora''; END'`,
    );
    await alterDatabase(databaseUrl, "search_path = public, pg_catalog");
    await alterDatabase(databaseUrl, "default_transaction_read_only = on");
    const store = new Store({ databaseUrl, dataDir: "" });
    expect(isOutage(await store.ready().catch((failure) => failure))).toBe(true);
    await store.close();
  });

  it("are replaced after a failover made them read-only", async () => {
    const databaseUrl = await createDatabase(postgresUrl, inject("postgresTemplate"));
    await alterDatabase(databaseUrl, "default_transaction_read_only = on");
    const store = new Store({ databaseUrl, dataDir: "" });
    const db = await store.ready();
    // Ten read-only connections.
    await Promise.all(Array.from({ length: 10 }, () => findAccount(db, email).catch(() => {})));
    await expect(addAccount(db, email, {}, Date.now())).rejects.toThrow(/read-only/);
    await alterDatabase(databaseUrl, "default_transaction_read_only = off");
    await eventually(() => addAccount(db, email, {}, Date.now()));
    for (let n = 0; n < 10; n++) await addAccount(db, `${n}@example.com`, {}, Date.now());
    await store.close();
  });

  it("answer also the reads that waited for one when they were replaced", async () => {
    const databaseUrl = await createDatabase(postgresUrl, inject("postgresTemplate"));
    const store = new Store({ databaseUrl, databasePool: 1, dataDir: "" });
    const db = await store.ready();
    await addAccount(db, email, {}, Date.now());
    await alterDatabase(databaseUrl, "default_transaction_read_only = on");
    await db.selectNoFrom(sql`set_config('default_transaction_read_only', 'on', false)`.as("is")).execute();
    const written = addAccount(db, "second@example.com", {}, Date.now());
    const reads = Array.from({ length: 20 }, () => findAccount(db, email));
    await expect(written).rejects.toThrow(/read-only/);
    for (const { email: read } of await Promise.all(reads)) expect(read).toBe(email);
    await store.close();
  });
});

describe.runIf(postgresUrl)("the connections to a PostgreSQL with a standby", () => {
  const email = "ceo@example.com";
  let primary: NonNullable<Awaited<ReturnType<typeof startPostgres>>>;
  let standby: typeof primary;
  let store: Store;

  async function startPair() {
    const started = await startPostgres();
    const following = started && (await startPostgres(started.url));
    if (!started || !following) throw new Error("PostgreSQL is not installed");
    [primary, standby] = [started, following];
  }
  const hostsOf = (...urls: string[]) => {
    const hosts = urls.map((url) => new URL(url).host).join(",");
    return `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`;
  };

  afterEach(async () => {
    await store.close();
    for (const server of [primary, standby]) {
      if (server.child.signalCode === null) signalPostgres(server.child.pid, "SIGCONT");
      await stopDatabase(server);
    }
  });

  const movedTo = (server: { url: string }) => [
    { host: new URL(server.url).host },
    "the store is at another host now",
  ];

  it("lead to the host that accepts writes, whatever their order, without a word in the log", async () => {
    await startPair();
    const warn = vi.spyOn(log(), "warn");
    store = new Store({ databaseUrl: hostsOf(standby.url, primary.url), dataDir: "" });
    const db = await store.ready();
    await addAccount(db, email, {}, Date.now());
    expect((await findAccount(db, email)).email).toBe(email);
    expect(readinessProblems()).toEqual([]);
    expect(warn.mock.calls).not.toContainEqual(movedTo(primary));
  });

  it.each(["SIGKILL", "SIGSTOP"] as const)(
    "lead to the promoted standby after %s, and none is left at the old one",
    async (signal) => {
      await startPair();
      store = new Store({ databaseUrl: hostsOf(primary.url, standby.url), dataDir: "" });
      const db = await store.ready();
      await addAccount(db, email, {}, Date.now());
      await Promise.all(Array.from({ length: 10 }, () => findAccount(db, email)));
      const watcher = new pg.Client(standby.url);
      await watcher.connect();
      await eventually(async () => {
        const { rows } = await watcher.query("SELECT 1 FROM accounts");
        expect(rows).toHaveLength(1);
      });
      await watcher.end();
      const warn = vi.spyOn(log(), "warn");
      signalPostgres(primary.child.pid, signal);
      standby.promote();
      await eventually(() => addAccount(db, "second@example.com", {}, Date.now()));
      for (let n = 0; n < 10; n++) expect((await findAccount(db, email)).email).toBe(email);
      expect(warn.mock.calls).toContainEqual(movedTo(standby));
      const { used, idle, waiting } = store.countConnections() ?? {};
      expect([used, waiting]).toEqual([0, 0]);
      expect(idle).toBeLessThanOrEqual(10);
      const old = Number(new URL(primary.url).port);
      await eventually(() => expect(openPeers()).not.toContain(old));
    },
  );

  it("acknowledge no write that the synchronous standby has not received", async () => {
    await startPair();
    await onPrimary("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
    store = new Store({ databaseUrl: primary.url, dataDir: "" });
    const db = await store.ready();
    await addAccount(db, email, {}, Date.now());
    signalPostgres(standby.child.pid, "SIGSTOP");
    const write = addAccount(db, "second@example.com", {}, Date.now());
    expect(isOutage(await write.catch((failure) => failure))).toBe(true);
    signalPostgres(standby.child.pid, "SIGCONT");
    await eventually(() => addAccount(db, "third@example.com", {}, Date.now()));
  });

  /** Stores opened of the pair by each way of naming it; `fill` has written an account by then. */
  const waysToName = [
    { way: "both hosts", name: () => hostsOf(primary.url, standby.url) },
    { way: "one host", name: () => primary.url },
    { way: "one host that is to accept writes", name: () => hostsOf(primary.url) },
  ];

  it.each(waysToName)(
    "are read, refuse writes, and leave the instance ready where none writes: $way",
    async ({ name }) => {
      await startPair();
      store = new Store({ databaseUrl: name(), dataDir: "" });
      const db = await store.ready();
      await addAccount(db, email, {}, Date.now());
      await onPrimary("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()");
      await eventually(async () => {
        const failure = await addAccount(db, "second@example.com", {}, Date.now()).catch(
          (failure) => failure,
        );
        expect(isOutage(failure)).toBe(true);
      });
      for (let n = 0; n < 10; n++) expect((await findAccount(db, email)).email).toBe(email);
      expect(readinessProblems()).toEqual([]);
      expect(outageSince("writes")).toBeDefined();
      await onPrimary("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()");
      await eventually(() => addAccount(db, "third@example.com", {}, Date.now()));
      await eventually(async () => {
        await findAccount(db, email);
        expect(outageSince("writes")).toBeUndefined();
      });
    },
  );

  it("begin to be read, and to be written to, with the standby they find at first", async () => {
    await startPair();
    const db = new Store({ databaseUrl: primary.url, dataDir: "" });
    await addAccount(await db.ready(), email, {}, Date.now());
    await db.close();
    store = new Store({ databaseUrl: hostsOf(standby.url), dataDir: "" });
    const reading = await eventually(() => store.ready());
    await eventually(async () => expect((await findAccount(reading, email)).email).toBe(email));
    expect(readinessProblems()).toEqual([]);
    standby.promote();
    await eventually(() => addAccount(reading, "second@example.com", {}, Date.now()));
  });

  it.each(["", "?target_session_attrs=read-write"])(
    "make no instance ready until the standby is promoted, while the store has no keys yet (%j)",
    async (query) => {
      await startPair();
      store = new Store({ databaseUrl: primary.url, dataDir: "" });
      const at = (url: string) => ({ ...besideDatabaseUrl, DATABASE_URL: url, SIGN_IN: "local" });
      const writer = await Service.make(at(primary.url));
      await writer.adminJson("account", "add", email, "--plan", "licensed");
      const headers = { Authorization: `Bearer ${await writer.token(email)}` };
      const service = await Service.start(at(`${standby.url}${query}`));

      const notReady = await eventually(async () => {
        const answer = await service.ask("/ready");
        expect(answer.text).toContain("not ready: the store has not answered yet\n");
        expect(service.log).toContain("no host of the store accepts writes; it is only read");
        expect(service.log).toContain("not ready: the store or its keys cannot be used");
        return answer;
      });
      expect(notReady.status).toBe(503);
      expect((await service.ask(operations.health.path)).status).toBe(200);

      standby.promote();
      await eventually(async () => {
        const { status, text } = await service.ask("/ready");
        expect([status, text]).toEqual([200, "ready\n"]);
      });
      expect((await service.ask(operations.entitlement.path, { headers })).status).toBe(200);
      await service.stop({ expectErrors: true });
    },
  );

  it("are read at the standby of a killed primary while its replay is a minute old at most", async () => {
    await startPair();
    // By this function, what a connection names itself is how much older the replay is.
    await onPrimary(
      `CREATE FUNCTION public.pg_last_xact_replay_timestamp() RETURNS timestamptz LANGUAGE sql AS
       'SELECT pg_catalog.pg_last_xact_replay_timestamp() - current_setting(''application_name'')::interval'`,
      "ALTER DATABASE postgres SET search_path = public, pg_catalog",
    );
    const older = (seconds: number, ...urls: string[]) =>
      new Store({ databaseUrl: `${hostsOf(...urls)}&application_name=${seconds}%20seconds`, dataDir: "" });
    store = older(30, primary.url, standby.url);
    const db = await store.ready();
    await addAccount(db, email, {}, Date.now());
    const reader = older(0, standby.url);
    await eventually(async () => findAccount(await reader.ready(), email));
    await reader.close();
    signalPostgres(primary.child.pid, "SIGKILL");
    expect((await eventually(() => findAccount(db, email))).email).toBe(email);
    const write = addAccount(db, "second@example.com", {}, Date.now());
    expect(isOutage(await write.catch((failure) => failure))).toBe(true);
    for (const urls of [[primary.url, standby.url], [standby.url]]) {
      const late = older(61, ...urls);
      await expect(late.ready()).rejects.toThrow("no host of the store accepts writes, and none can be read");
      await late.close();
    }
  });

  async function onPrimary(...statements: string[]): Promise<void> {
    const client = new pg.Client(primary.url);
    await client.connect();
    await client.query("SET default_transaction_read_only = off");
    for (const statement of statements) await client.query(statement);
    await client.end();
  }
});

/** The remote ports of this process's open connections. */
function openPeers(): (number | undefined)[] {
  return (process as unknown as { _getActiveHandles(): { remotePort?: number }[] })
    ._getActiveHandles()
    .map(({ remotePort }) => remotePort);
}
