import { spawnSync } from "node:child_process";
import fs, { cpSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { constants, DatabaseSync, type SQLInputValue } from "node:sqlite";
import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { findAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { endedApps } from "@/lib/auth/sessions/ended-app";
import { crowdedOut } from "@/lib/auth/sessions/session-start";
import { auditEntries } from "@/lib/db/audit";
import { Store } from "@/lib/db/store";
import { isOutage } from "@/lib/db/store-outage";
import { startBackgroundLoop } from "@/lib/runtime/background-loop";
import { startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { mountInMemory } from "@/tests/support/mount";
import { Service } from "@/tests/support/service";

let dataDir: string;
beforeEach(() => {
  dataDir = join(createFolder(), "data");
});

const email = "ceo@example.com";
const maxLogBytes = 16 * 1024 * 1024;
const mount = mountInMemory();
afterAll(() => mount?.remove());

describe("the embedded store", () => {
  const open = () => new Store({ dataDir, databaseUrl: undefined });

  it("makes its folder and files accessible to their owner only", async () => {
    const store = open();
    await store.ready();
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(dataDir))
      expect(statSync(join(dataDir, file)).mode & 0o777, file).toBe(0o600);
    await store.close();
  });

  it("waits for the disk with each write", async () => {
    const store = open();
    const { rows } = await sql`PRAGMA synchronous`.execute(await store.ready());
    expect(rows).toEqual([{ synchronous: 2 }]); // FULL
    await store.close();
  });

  it("bounds its write-ahead log again after a long reader, within seconds, where no one writes", async () => {
    const service = await Service.start();
    await service.ready();
    const { logBytes, endRead } = growLog(service.dataDir);
    endRead();
    await eventually(() => expect(logBytes()).toBeLessThanOrEqual(maxLogBytes));
    await service.stop();
  });

  it("plans what every page of an owner reads once, and not anew for each reading", async () => {
    const store = open();
    const db = await store.ready();
    const file = new DatabaseSync(join(dataDir, "store.sqlite"));
    let planned = 0;
    // SQLite asks it about each table and column that it plans with.
    file.setAuthorizer(() => {
      planned++;
      return constants.SQLITE_OK;
    });
    for (const { sql, parameters } of [
      endedApps(db, "acc_1", 1).compile(),
      crowdedOut(db, email, 1).compile(),
    ]) {
      const statement = file.prepare(sql);
      statement.all(...(parameters as SQLInputValue[]));
      expect(planned).toBeGreaterThan(0);
      planned = 0;
      statement.all(...(parameters as SQLInputValue[]));
      expect(planned).toBe(0);
    }
    file.close();
    await store.close();
  });

  it("finds what was made in a session by an index, also after ANALYZE", async () => {
    const store = open();
    await store.ready();
    const db = new DatabaseSync(join(dataDir, "store.sqlite"));
    db.exec("PRAGMA foreign_keys = OFF");
    const insert = db.prepare(
      "INSERT INTO local_sessions (id, account_id, client_hash, expires_at_ms) VALUES (?, 'acc_x', ?, 0)",
    );
    db.exec("BEGIN");
    for (let n = 0; n < 2000; n++) insert.run(`sess_${n}`, `hash ${n}`);
    db.exec("COMMIT; ANALYZE");
    const plan = db
      .prepare("EXPLAIN QUERY PLAN SELECT 1 FROM local_sessions WHERE made_in = ?")
      .all("sess_1");
    expect(plan).toEqual([
      expect.objectContaining({ detail: expect.stringMatching(/^SEARCH local_sessions USING .*INDEX/) }),
    ]);
    db.close();
    await store.close();
  });

  it("finds a person's entries of a kind by the index of persons, however many others have some", async () => {
    const store = open();
    const db = await store.ready();
    const file = new DatabaseSync(join(dataDir, "store.sqlite"));
    const filters = [
      { whom: [email], what: "sign in", sinceMs: 0 },
      { whom: [email], who: "stripe" },
      { whom: [email, "acc_1"], who: "owner", what: "sign in" },
    ];
    for (const filter of filters) {
      const { sql, parameters } = auditEntries(db, filter).limit(1).compile();
      const plan = file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as SQLInputValue[]));
      expect(plan[0]?.detail, sql).toMatch(/^SEARCH audit_entries USING INDEX audit_entries_whom /);
    }
    file.close();
    await store.close();
  });

  /** Writes for requests and in the background, and returns in which order they were written. */
  async function writeBoth(requests: number, sweeps: number): Promise<string[]> {
    const store = open();
    const db = await store.ready();
    const written: string[] = [];
    const write = (name: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          addAccount(db, `${name}${n}@example.com`, {}, Date.now()).then(() => written.push(name)),
        ),
      );
    const round = () => write("sweep", sweeps);
    const stop = startBackgroundLoop(round, { pauseMs: 60_000, failed: "" });
    await write("request", requests);
    await stop();
    await store.close();
    return written;
  }

  it("lets the writes of requests pass those of background work", async () => {
    const written = await writeBoth(1, 20);
    expect(written.indexOf("request")).toBeLessThanOrEqual(1);
    expect(written).toHaveLength(21);
  });

  it("gives background work one turn after three writes of requests, however many wait", async () => {
    const written = await writeBoth(40, 3);
    expect(written.lastIndexOf("sweep")).toBeLessThanOrEqual(12);
    expect(written).toHaveLength(43);
  });

  it("waits one second for another process's lock without blocking the event loop", async () => {
    const store = open();
    const db = await store.ready();
    await addAccount(db, email, {}, Date.now());
    const other = new DatabaseSync(join(dataDir, "store.sqlite"));
    other.exec("BEGIN IMMEDIATE");
    setTimeout(() => other.exec("COMMIT"), 1000);

    const before = performance.eventLoopUtilization();
    const read = findAccount(db, email).then(() => Date.now());
    const startedAtMs = Date.now();
    await Promise.all(["a", "b", "c"].map((name) => addAccount(db, `${name}@example.com`, {}, Date.now())));
    const { utilization } = performance.eventLoopUtilization(before);
    expect((await read) - startedAtMs, "a read does not wait for the writes").toBeLessThan(800);
    expect(utilization, "of the time, other requests cannot run").toBeLessThan(0.5);
    expect(await db.selectFrom("accounts").select("email").execute()).toHaveLength(4);
    other.close();
    await store.close();
  });

  it("limits the wait of every write in the queue to that of one write", async () => {
    const store = open();
    const db = await store.ready();
    const other = new DatabaseSync(join(dataDir, "store.sqlite"));
    other.exec("BEGIN IMMEDIATE");
    const startedAtMs = performance.now();
    const writes = Array.from({ length: 20 }, (_, n) => addAccount(db, `${n}@example.com`, {}, Date.now()));
    const outcomes = await Promise.allSettled(writes);
    expect(performance.now() - startedAtMs).toBeLessThan(3000);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    other.exec("COMMIT");
    await addAccount(db, email, {}, Date.now());
    other.close();
    await store.close();
  });

  // SQLite rolls back by itself at some failures (https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
  it.each(["has rolled back by itself", "has left open"])(
    "goes on after a commit that its disk refused and SQLite %s",
    async (ending) => {
      const store = open();
      const db = await store.ready();
      const { exec } = DatabaseSync.prototype;
      const refusing = vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(function (
        this: DatabaseSync,
        sql,
      ) {
        if (sql !== "COMMIT") return exec.call(this, sql);
        if (ending === "has rolled back by itself") exec.call(this, "ROLLBACK");
        throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
      });
      const failure = await addAccount(db, email, {}, Date.now()).catch((failure) => failure);
      refusing.mockRestore();
      expect(isOutage(failure)).toBe(true);
      expect(failure.message).toBe("database or disk is full");
      await addAccount(db, email, {}, Date.now());
      await store.close();
    },
  );

  it("rejects a write to a replaced file, and continues with the new one", async () => {
    const store = open();
    const db = await store.ready();
    const replacement = new Store({ dataDir: `${dataDir}-2`, databaseUrl: undefined });
    await addAccount(await replacement.ready(), "restored@example.com", {}, Date.now());
    await replacement.close();
    rmSync(dataDir, { recursive: true });
    renameSync(`${dataDir}-2`, dataDir);
    const failure = await addAccount(db, email, {}, Date.now()).catch((failure) => failure);
    expect(failure.message).toContain("was removed or replaced");
    expect(isOutage(failure)).toBe(true);
    expect((await findAccount(db, "restored@example.com")).email).toBe("restored@example.com");
    await addAccount(db, email, {}, Date.now());
    await store.close();
  });

  it.each([
    ["the lock", "exec", Object.assign(new Error("database is locked"), { errcode: 5 }), "ENOLCK"],
    ["a second name", "link", Object.assign(new Error("no hard links"), { code: "EPERM" }), "EPERM"],
  ])(
    "says where a share refuses %s of its file that it needs another disk",
    async (_, what, refusal, code) => {
      const refuse = () => {
        throw refusal;
      };
      const { linkSync } = fs;
      if (what === "link") fs.linkSync = refuse;
      else vi.spyOn(DatabaseSync.prototype, "exec").mockImplementationOnce(refuse);
      syncBuiltinESMExports();
      const failure = await open()
        .ready()
        .catch((failure) => failure);
      fs.linkSync = linkSync;
      syncBuiltinESMExports();
      expect(isOutage(failure)).toBe(true);
      expect(failure.message).toBe(
        `DATA_DIR: ${dataDir} cannot be used (${code}): it has to be on a disk of this machine, and not on a network share or in a bucket`,
      );
    },
  );

  if (mount) {
    it("does not open on a read-only mount, and writes as soon as that is writable", async () => {
      dataDir = join(mount.folder, "data");
      cpSync(inject("embeddedTemplate"), dataDir, { recursive: true });
      const file = join(dataDir, "store.sqlite");
      // A killed process leaves its log, without which SQLite opens nothing on a read-only mount.
      const leaveLog = `const db = new (require("node:sqlite").DatabaseSync)(${JSON.stringify(file)});
        db.exec("PRAGMA journal_mode = WAL; CREATE TABLE ballast (n)"); process.kill(process.pid, "SIGKILL")`;
      spawnSync("node", ["-e", leaveLog]);
      mount.makeWritable(false);
      const store = open();
      for (let n = 0; n < 2; n++) await expect(store.ready()).rejects.toThrow("EROFS");
      mount.makeWritable(true);
      const db = await store.ready();
      await addAccount(db, email, {}, Date.now());
      expect((await findAccount(db, email)).email).toBe(email);
      await store.close();
    });
  }
});

describe.each(everyEngine)("a mistake of ours in a query on $name", async (engine) => {
  const stage = await startStage(engine);
  const db = await stage.open();
  const endless: Record<string, unknown> = {};
  endless.itself = endless;
  // As V8's JSON did for a deep value until Node 26.
  const nested = {
    toJSON() {
      throw new RangeError("Maximum call stack size exceeded");
    },
  };

  it.each([
    ["its words", sql`select no_column from accounts`],
    ["its values", sql`select ${1}, ${endless}`],
    ["a value as deep as no stack", sql`select ${1}, ${nested}`],
  ])("in %s is an error with its own stack and no outage, and the connection goes on", async (_, query) => {
    const failure = await query.execute(db).catch((thrown: Error) => thrown);
    expect(failure).toBeInstanceOf(Error);
    expect(isOutage(failure)).toBe(false);
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  if (engine.name !== "PostgreSQL")
    it("in a number that JavaScript has not is none either", async () => {
      const query = sql`select 9007199254740993 as number`.execute(db);
      expect(isOutage(await query.catch((thrown: Error) => thrown))).toBe(false);
    });
});

/** Writes 40 MB next to a reader, which keeps them in the log. */
function growLog(folder: string) {
  const file = join(folder, "store.sqlite");
  const reader = new DatabaseSync(file);
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM accounts").get();
  const writer = new DatabaseSync(file, { timeout: 5000 });
  writer.exec("CREATE TABLE ballast (bytes BLOB)");
  for (let n = 0; n < 40; n++) writer.exec("INSERT INTO ballast VALUES (zeroblob(1048576))");
  writer.close();
  const logBytes = () => statSync(`${file}-wal`).size;
  expect(logBytes()).toBeGreaterThan(40e6);
  const endRead = () => {
    reader.exec("COMMIT");
    reader.close();
  };
  return { logBytes, endRead };
}
