import { type ChildProcess, execFile, execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { makeFirstKey } from "@/lib/auth/keys/signing-keys";
import { Store } from "@/lib/db/store";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { addStandingBy, makeStandingBy, readStandingBy, type StandingBy } from "@/tests/support/standing-by";
import { openEmbedded } from "@/tests/support/stores";

declare module "vitest" {
  interface ProvidedContext {
    /** The names of the engines on which a project tests. */
    engines: string[];
    /** A superuser's URL on a real PostgreSQL; `undefined` if it is not installed. */
    postgresUrl: string | undefined;
    /** The port of a real redis-server; `undefined` if it is not installed. */
    redisPort: number | undefined;
    /** The name of a database in its state after a first start; `undefined` if PostgreSQL is not installed. */
    postgresTemplate: string | undefined;
    /** The data folder of an embedded store in its state after a first start. */
    embeddedTemplate: string;
    /** Whether by default no one stands by: a drill looks at the whole of a store. */
    isAlone: boolean;
    /** What both have of those who stand by. */
    standingBy: StandingBy;
  }
}

/** Wraps the signing key of every store that is not empty; as long as a generated APP_SECRET. */
const appSecret = "s".repeat(43);

/** Starts the real databases that the tests talk to, once for the whole run, and stops them after it. */
export default async function setup({ provide }: TestProject) {
  const postgres = await startPostgres();
  const redis = await startRedis();
  provide("postgresUrl", postgres?.url);
  provide("redisPort", redis?.port);
  // Running every migration and generating a key for each test would be a third of the suite's time.
  process.env.APP_SECRET = appSecret;
  const theirs = makeStandingBy(Date.now());
  const template = await makeTemplate(theirs);
  provide("embeddedTemplate", template);
  provide("standingBy", await readStandingBy(openEmbedded(template).query));
  provide("postgresTemplate", postgres && (await makePostgresTemplate(postgres.url, theirs)));
  delete process.env.APP_SECRET;
  return async () => {
    for (const database of [postgres, redis]) if (database) await stopDatabase(database);
  };
}

/** Makes a data folder in its state after a first start. */
async function makeTemplate(theirs: StandingBy): Promise<string> {
  const dataDir = createFolder();
  writeFileSync(join(dataDir, "app-secret"), appSecret, { mode: 0o600 });
  await prepareStore({ dataDir });
  await addStandingBy(openEmbedded(dataDir).query, theirs);
  return dataDir;
}

async function makePostgresTemplate(serverUrl: string, theirs: StandingBy): Promise<string> {
  const databaseUrl = await createDatabase(serverUrl);
  await prepareStore({ databaseUrl, dataDir: "" });
  await addStandingBy((sql) => queryOnce(databaseUrl, sql), theirs);
  return new URL(databaseUrl).pathname.slice(1);
}

/** Migrates a store and creates its first signing key. */
async function prepareStore(settings: ConstructorParameters<typeof Store>[0]): Promise<void> {
  const store = new Store(settings);
  await makeFirstKey(await store.ready(), Date.now());
  await store.close();
}

/** Stops a database. */
export async function stopDatabase({ child }: { child: ChildProcess }): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  await exited;
}

/**
 * Starts a PostgreSQL on loopback; returns `undefined` if it is not installed.
 *
 * @param primaryUrl - makes it a standby of this server, which follows it until it is promoted
 * @param more - further settings, which win over those here
 */
export async function startPostgres(primaryUrl?: string, more: string[] = []) {
  const bin = findPostgres();
  if (!bin) return leaveOut("PostgreSQL");
  const folder = createFolder();
  const port = await reservePort();
  const user = postgresUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const options = { ...user, cwd: folder, stdio: "ignore" } as const;
  const [program, parameters] = primaryUrl
    ? ["pg_basebackup", ["-D", data, "-d", primaryUrl, "-R", "-N", "--checkpoint=fast"]]
    : ["initdb", ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]];
  await promisify(execFile)(join(bin, program), parameters, { ...user, cwd: folder });
  const flags = [
    "-D",
    data,
    "-p",
    String(port),
    "-k",
    folder,
    "-c",
    "listen_addresses=127.0.0.1",
    "-c",
    "fsync=off",
    // Each service and each store of the tests keeps up to ten.
    "-c",
    "max_connections=500",
    // Databases that exist for seconds do not need it.
    "-c",
    "autovacuum=off",
    // In its folder: a killed server would leave its shared memory in /dev/shm.
    "-c",
    "dynamic_shared_memory_type=mmap",
    ...more.flatMap((setting) => ["-c", setting]),
  ];
  const child = spawnLeashed(join(bin, "postgres"), flags, options);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await eventually(() => queryOnce(url, "SELECT 1"));
  const promote = () => execFileSync(join(bin, "pg_ctl"), ["promote", "-w", "-D", data], options);
  return { child, url, promote };
}

/** Sends a signal to a PostgreSQL and its processes, each of which has a group of its own. */
export function signalPostgres(pid: number | undefined, signal: NodeJS.Signals): void {
  const children = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  // A child may end with its parent before its turn, which this program does not mind.
  spawnSync("kill", ["-s", signal.slice("SIG".length), String(pid), ...children.trim().split("\n")]);
}

/** Starts a Redis on loopback; returns `undefined` if it is not installed. */
export async function startRedis() {
  const folder = createFolder();
  const port = await reservePort();
  const child = spawnLeashed(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
    {
      stdio: "ignore",
    },
  );
  const isThere = await new Promise((resolve) =>
    child.once("spawn", () => resolve(true)).once("error", () => resolve(false)),
  );
  if (!isThere) return leaveOut("redis-server");
  return { child, port };
}

function leaveOut(name: string): undefined {
  if (process.env.CI) throw new Error(`${name} is not installed, and under CI nothing is left out`);
  process.stderr.write(`LEFT OUT: the tests on ${name}, which is not installed\n`);
}

/** The folder of PostgreSQL's programs: on Debian `initdb` is not in the PATH. */
export function findPostgres(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(":"),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")));
}

/** PostgreSQL and PgBouncer refuse to run as root: Debian's packages create a user for them. */
export function postgresUser(): { uid: number; gid: number } | undefined {
  return process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;
}

function idOf(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
}

/** Longer than the service's own retries: a mail whose lease was lost is due again after fifteen seconds. */
const patienceMs = 25_000;

/** Retries until the attempt does not throw, or rethrows its last error after the timeout. */
export async function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  const giveUpAtMs = Date.now() + patienceMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > giveUpAtMs) throw error;
      await sleep(pauseMs);
    }
  }
}

/** The settings that DATABASE_URL requires. */
export const besideDatabaseUrl = { APP_URL: "http://localhost:3000", APP_SECRET: appSecret };

/** Runs SQL on a connection of its own. Returns the rows. */
export async function queryOnce(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on("error", () => {}); // a server that is killed says so besides failing the query
  await client.connect();
  const { rows } = await client.query(sql).finally(() => client.end());
  return rows;
}

/** Creates a database for one test, empty or from a template, and returns its URL. */
export async function createDatabase(serverUrl: string, template = "template1"): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await queryOnce(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return serverUrl.replace(/\/postgres$/, `/${name}`);
}

/** Sets something of a test's database, for the connections that follow. */
export async function alterDatabase(url: string, setting: string): Promise<void> {
  const [server = "", name] = url.split(/\/(?=\w+$)/);
  await queryOnce(`${server}/postgres`, `ALTER DATABASE ${name} SET ${setting}`);
}

/** Whether a program is installed. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync("which", [program], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
