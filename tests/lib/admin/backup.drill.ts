import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { borrowService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { operate } from "@/tests/support/operator";
import type { Environment } from "@/tests/support/service";
import { Service } from "@/tests/support/service";
import { listTables } from "@/tests/support/stores";

const email = "ceo@example.com";
const terms = ["--plan", "licensed", "--credits", "7.125"];
/** 15 MB of incompressible data; 6 MB where creating and reading them takes longer. */
const ballast: Record<string, string> = {
  "the embedded store": `CREATE TABLE ballast AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15)
    SELECT randomblob(1000000) AS bytes FROM n`,
  PostgreSQL: `CREATE TABLE ballast AS SELECT n / 1000 AS n, string_agg(md5(random()::text), '') AS text
    FROM generate_series(1, 200000) AS n GROUP BY 1`,
};
const BACKUP_PASSPHRASE = "correct horse battery staple";

describe.each(engines)("backup and restore on $name", async (engine) => {
  let file: string;
  const { stage: source, service } = await borrowService(engine);
  await service.adminJson("account", "add", email, ...terms);
  await service.adminJson("credits", "add", email, "-2", "--reason", "à la carte");
  await service.adminJson("banner", "set", "promo", "Hello");
  await service.submit("/waitlist/join", { email: "waiting@example.com" });
  beforeEach(() => {
    file = join(createFolder(), "office.backup");
  });

  const backUp = (...options: string[]) =>
    operate(["backup", file, ...options], { ...service.environment, BACKUP_PASSPHRASE });

  /** Settings of an empty location. */
  async function prepareEmpty() {
    const stage = await engine.prepare({ isEmpty: true });
    onTestFinished(stage.clear);
    const { PORT: _, ...rest } = service.environment;
    const DATA_DIR = join(createFolder(), "data");
    const environment: Environment = { ...rest, DATA_DIR, ...stage.environment, BACKUP_PASSPHRASE };
    return { ...stage, environment };
  }

  /** All rows of every table. */
  async function readAll(stage: Stage): Promise<Record<string, unknown[]>> {
    const tables = (await listTables(stage)).filter((name) => !name.startsWith("sqlite_")).sort();
    const rows = tables.map(async (name) => [name, await stage.query(`SELECT * FROM ${name} ORDER BY 1, 2`)]);
    return Object.fromEntries(await Promise.all(rows));
  }

  it("restore every table, token, link and ledger, backed up while the server writes", {
    timeout: 90_000,
  }, async () => {
    const deleted = `${crypto.randomUUID()}@example.com`;
    await service.adminJson("account", "add", deleted, ...terms);
    const token = await service.token(email);
    const link = await service.unsubscribePath(email);
    await eventually(async () => {
      const onTheirWay = await source.query(
        `SELECT id FROM onboarding_emails WHERE state = 'sending' OR state = 'scheduled' AND due_at_ms < ${Date.now()}`,
      );
      expect(onTheirWay).toEqual([]);
    });
    const before = await readAll(source);
    expect(await backUp()).toMatchObject({ code: 0, stderr: "" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await service.adminJson("account", "delete", deleted); // after the backup

    const empty = await prepareEmpty();
    const { environment } = empty;
    const outcome = await operate(["--json", "restore", file], environment);
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    const after = await readAll(empty);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    const isRestore = (row: unknown) => (row as { what?: string }).what === "restore";
    const [{ madeAt }, [entry, ...others]] = [
      JSON.parse(outcome.stdout),
      after.audit_entries?.filter(isRestore) ?? [],
    ];
    expect(entry).toMatchObject({
      who: expect.stringMatching(/^operator/),
      after: JSON.stringify({ madeAt }),
    });
    expect(others).toEqual([]);
    for (const [table, rows] of Object.entries(before)) {
      expect(
        after[table]?.filter((row) => row !== entry),
        table,
      ).toEqual(rows);
    }
    expect(Object.values(after).flat().length).toBeGreaterThan(15);

    const second = await Service.start(environment);
    const authorization = `Bearer ${token}`;
    const balance = await second.ask("/api/credits/balance", { headers: { authorization } });
    expect([balance.status, JSON.parse(balance.text)]).toEqual([200, { credits: 5.125 }]);
    expect((await second.ask(link, { method: "POST" })).status).toBe(200);
    expect(readdirSync(environment.DATA_DIR ?? "").filter((name) => name.startsWith("copy-"))).toEqual([]);
    await second.stop();
  });

  it("are age files", async () => {
    expect(await backUp()).toMatchObject({ code: 0, stderr: "" });
    const plain = `${file}.plain`;
    // `age` reads the passphrase from a terminal.
    const open = ["-qec", `age --decrypt --output ${plain} ${file}`, "/dev/null"];
    execFileSync("script", open, { input: `${BACKUP_PASSPHRASE}\n` });
    const bytes = readFileSync(plain);
    const end = bytes.indexOf("\n");
    const [note, gzipped] = [bytes.toString("utf8", 0, end), bytes.subarray(end + 1)];
    expect(Object.keys(JSON.parse(note))).toEqual(["engine", "madeAt", "appSecret"]);
    expect(gunzipSync(gzipped).toString("latin1")).toMatch(/^SQLite format 3|^PGDMP/);
  });

  it("ask before a file is replaced", async () => {
    writeFileSync(file, "holiday pictures");
    expect(await backUp()).toEqual({
      code: 1,
      stdout: "",
      stderr: `invalid_request: This replaces ${file}. Nothing was changed. Repeat it with --yes to do it without being asked.\n`,
    });
    expect(readFileSync(file, "utf8")).toBe("holiday pictures");
    expect(await backUp("--yes")).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(file, "latin1")).not.toContain("holiday");
  });

  it("write no unencrypted copy, and leave nothing behind after a signal or a kill", {
    timeout: 90_000,
  }, async () => {
    // Enough data to interrupt: one second of compression.
    await source.query(ballast[engine.name] ?? "");
    const { dataDir } = service;
    const seen = new Set<string>();
    const watcher = watch(dataDir, (_, name) => seen.add(String(name)));
    const folder = join(file, "..");
    const others = engine === engines[0] ? (["SIGINT", "SIGHUP"] as const) : [];
    for (const signal of ["SIGTERM", ...others, "SIGKILL"] as const) {
      const command = spawnLeashed("node", ["dist/admin/main.js", "backup", file], {
        env: { ...(service.environment as NodeJS.ProcessEnv), BACKUP_PASSPHRASE },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let stderr = "";
      command.stderr?.on("data", (chunk) => {
        stderr += chunk;
      });
      const ended = once(command, "close");
      await eventually(() => expect(statSync(`${file}.draft`).size).toBeGreaterThan(1000));
      command.kill(signal);
      const [code] = await ended;
      if (signal === "SIGKILL") {
        // The leftovers are encrypted, and do not block the next backup.
        expect(readdirSync(folder)).toEqual(["office.backup.draft"]);
        expect(readFileSync(`${file}.draft`, "latin1")).not.toMatch(/SQLite format|PGDMP/);
      } else {
        expect([code, stderr], signal).toEqual([1, expect.stringContaining("was interrupted")]);
        expect(readdirSync(folder), signal).toEqual([]);
      }
      expect(
        readdirSync(dataDir).filter((name) => name.startsWith("copy-")),
        signal,
      ).toEqual([]);
    }
    expect(await backUp()).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(folder)).toEqual(["office.backup"]);
    await source.query("DROP TABLE ballast");
    watcher.close();
    const own = /^(?:store\.sqlite|app-secret|mail|issuer)/;
    expect([...seen].filter((name) => !own.test(name))).toEqual([]);

    // Damage that shows when most was already restored.
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40);
    writeFileSync(`${file}.damaged`, bytes);
    const { environment } = await prepareEmpty();
    const { code, stderr } = await operate(["restore", `${file}.damaged`], environment);
    expect([code, stderr]).toEqual([1, expect.stringContaining("cannot be opened")]);
    expect(await operate(["restore", file], environment)).toMatchObject({ code: 0, stderr: "" });
  });

  it("restore what was backed up after a change of APP_SECRET", { timeout: 90_000 }, async () => {
    expect(await backUp()).toMatchObject({ code: 0 });
    const { environment: first } = await prepareEmpty();
    expect(await operate(["restore", file], first)).toMatchObject({ code: 0 });
    const printed = await operate(["restore", file, "--print-app-secret"], first);
    const APP_SECRET = "changed".repeat(6);
    const changed = { ...first, APP_SECRET, APP_SECRET_PREVIOUS: printed.stdout.trim() };
    expect(await operate(["backup", `${file}.2`], changed)).toMatchObject({ code: 0 });
    const environment = { ...(await prepareEmpty()).environment, APP_SECRET };
    expect(await operate(["restore", `${file}.2`], environment)).toMatchObject({ code: 0 });
    expect(await operate(["token", email], environment)).toMatchObject({ code: 0, stderr: "" });
  });

  it("remove unencrypted copies of a killed restore at an erasure", async () => {
    const left = join(service.dataDir, "copy-a1B2c3");
    mkdirSync(left);
    writeFileSync(join(left, "store"), email);
    await service.adminJson("account", "add", "gone@example.com");
    await service.adminJson("person", "erase", "gone@example.com");
    expect(existsSync(left)).toBe(false);
  });

  it("fail without a passphrase, with a wrong one, with a damaged file, and if a store exists", {
    timeout: 90_000,
  }, async () => {
    expect(await backUp()).toMatchObject({ code: 0, stderr: "" });
    for (const secret of [email, "BEGIN PRIVATE", service.environment.APP_SECRET ?? "sqlite format"]) {
      expect(readFileSync(file, "latin1").toLowerCase()).not.toContain(secret.toLowerCase());
    }
    const { environment } = await prepareEmpty();
    writeFileSync(`${file}.short`, readFileSync(file).subarray(0, 60));
    const refusals: [string[], Record<string, string>, string][] = [
      [["backup", `${file}.2`], { BACKUP_PASSPHRASE: "short" }, "BACKUP_PASSPHRASE is missing or too short"],
      [
        ["backup", `${file}.2`],
        { BACKUP_PASSPHRASE: "", BACKUP_PASSPHRASE_FILE: "/nowhere" },
        "BACKUP_PASSPHRASE_FILE: /nowhere cannot be read (ENOENT)",
      ],
      [["restore", "package.json"], {}, "is not a backup"],
      [
        ["restore", "/nowhere"],
        {},
        "invalid_request: /nowhere cannot be read (ENOENT). Compare its path and its owner",
      ],
      [["backup", "/nowhere/b"], service.environment, "/nowhere/b cannot be written (ENOENT)."],
      [["restore", file], service.environment, "There is already a store here"],
    ];
    // Checks that run before the store is opened; trying a passphrase takes half a second.
    if (engine === engines[0])
      refusals.push(
        // As a timer does that has other settings than the service: it would keep a backup of nothing each night.
        [["backup", `${file}.2`], {}, `There is no store at ${environment.DATA_DIR}/store.sqlite.`],
        [["restore", file], { BACKUP_PASSPHRASE: "correct horse battery stapler" }, "cannot be opened"],
        [["restore", `${file}.short`], {}, "cannot be opened"],
      );
    if (environment.APP_SECRET)
      refusals.push([["restore", file], { APP_SECRET: "x".repeat(32) }, "APP_SECRET differs"]);
    for (const [args, settings, words] of refusals) {
      const { code, stdout, stderr } = await operate(args, { ...environment, ...settings, SIGN_IN: "none" });
      expect([code, stdout, stderr], args.join(" ")).toEqual([1, "", expect.stringContaining(words)]);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
    const printed = await operate(["restore", file, "--print-app-secret"], environment);
    expect(printed.stdout.trim().length).toBeGreaterThanOrEqual(32);
    expect((await operate(["restore", file], environment)).code).toBe(0);
  });
});
