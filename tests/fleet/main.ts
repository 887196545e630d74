import { type ChildProcess, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  createDatabase,
  eventually,
  isInstalled,
  postgresUser,
  startPostgres,
  startRedis,
  stopDatabase,
} from "@/tests/support/databases";
import { buildEarlier } from "@/tests/support/earlier-build";
import { spawnLeashed } from "@/tests/support/leash";
import { startPgBouncer } from "@/tests/support/pgbouncer";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { startHaproxy } from "./haproxy";
import { Load, type Sample } from "./load";
import { Pressure } from "./pressure";

/*
 * Three instances of the build before the newest change of the schema, behind haproxy, on PostgreSQL through PgBouncer
 * and counters in Redis, are upgraded to today's, taken back, killed and cut off from their stores, under load: `npm run
 * fleet`. Exits 1 when something does not hold. Four minutes, and two the first time, for the build before.
 */

const paths = [
  "/api/entitlement",
  "/api/credits/balance",
  "/api/health",
  "/api/site-banner",
  "/docs",
  "/home",
];
let accounts = 0;
const startedAtMs = Date.now();
for (const program of ["haproxy", "pgbouncer", "redis-server", "wrk"]) {
  if (!isInstalled(program)) giveUp(`${program} is not installed`);
}
const today = ".";
const before =
  buildEarlier({ whole: true }) ?? giveUp("the build before is made from the repository's history");
setTimeout(() => giveUp("it took longer than eight minutes"), 8 * 60_000).unref();
const postgres = await startPostgres();
const redis = await startRedis();
if (!postgres || !redis) giveUp("PostgreSQL and Redis must be installed");
const databaseUrl = await createDatabase(postgres.url);
const balancerPort = await reservePort();
const environment = {
  APP_URL: `http://localhost:${balancerPort}`,
  APP_SECRET: "s".repeat(32),
  SIGN_IN: "local",
  DATABASE_URL: await startPgBouncer(databaseUrl, { poolSize: 20 }),
  DATABASE_DIRECT_URL: databaseUrl,
  REDIS_URL: `redis://127.0.0.1:${redis.port}`,
  TRUSTED_PROXY_HOPS: "1",
  RATE_LIMIT_HEALTH: "100000",
  DRAIN_SECONDS: "3",
};
const instances: Service[] = [];
for (let n = 0; n < 3; n++) instances.push(await start(environment, before));
const [first] = instances as [Service, ...Service[]];
startHaproxy(
  balancerPort,
  instances.map(({ port }) => port),
);
for (let n = 0; n < 5; n++) await addAccount();
const { token } = JSON.parse(await admin("--json", "token", "0@example.com"));

/** Where the most connections that the server of the database had are found. */
let mostConnections = 0;
const watching = setInterval(async () => {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 400 });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()",
    );
    mostConnections = Math.max(mostConnections, rows[0].n - 1);
  } catch {
    // It is frozen, or away.
  }
  client.end().catch(() => {});
}, 1000);

const load = new Load(balancerPort, paths, token);
const pressure = new Pressure(
  balancerPort,
  ["/api/entitlement", "/docs", "/api/credits/balance", "/"],
  token,
);
const head = ["what", "asked", "failed", "lost", "503", "401", "last failure after"];
const rows: string[][] = [[...head, "wrk asked", "refused", "broken"]];
let holds = true;

/** Makes something happen under load, and tells what became of the requests. */
async function phase(
  name: string,
  { mayLose = false, isOutage = false }: { mayLose?: boolean; isOutage?: boolean },
  happen: () => Promise<unknown>,
): Promise<void> {
  load.phase = name;
  const pressing = pressure.start();
  await sleep(1000);
  await happen();
  const overAtMs = Date.now();
  await sleep(4000);
  load.phase = "";
  const pressed = await pressing.stop();
  const samples = load.samples.filter((sample) => sample.phase === name);
  const failed = (sample: Sample) => sample.status === 0 || sample.status >= 400;
  const count = (is: (sample: Sample) => boolean) => samples.filter(is).length;
  const unavailable = count(({ status, by }) => status === 503 && by !== undefined);
  const signedOut = count(({ status }) => status === 401);
  const lost = count((sample) => failed(sample) && sample.by === undefined);
  const wrong = count(
    (sample) => failed(sample) && sample.by !== undefined && !(isOutage && sample.status === 503),
  );
  const lastMs = Math.max(0, ...samples.filter(failed).map(({ atMs }) => atMs - overAtMs));
  const isPressed = (isOutage || pressed.refused === 0 || mayLose) && (mayLose || pressed.broken === 0);
  const good = wrong === 0 && signedOut === 0 && (mayLose || lost === 0) && lastMs < 3500 && isPressed;
  holds &&= good;
  if (!good) {
    for (const instance of instances) process.stderr.write(readErrors(instance, name));
    for (const { path, status, by, said, atMs } of samples.filter(failed)) {
      process.stderr.write(
        `${name}: ${(atMs - overAtMs) / 1000} s: ${status} by ${by} at ${path}: ${said}\n`,
      );
    }
  }
  rows.push([
    `${good ? "✓" : "✗"} ${name}`,
    ...[samples.length, wrong, lost, unavailable, signedOut].map(String),
    `${(lastMs / 1000).toFixed(1)} s`,
    ...[pressed.asked, pressed.refused, pressed.broken].map(String),
  ]);
}

await phase("nothing", {}, () => sleep(3000));
await phase("upgrade, with one more change of the schema", {}, () => roll(today));
await phase("back to the build before", {}, () => roll(before));
await phase("upgrade again", {}, () => roll(today));
await phase("kill -9 of one", { mayLose: true }, async () => {
  await instances[2]?.kill();
  await sleep(2000);
  await instances[2]?.run();
});
await phase("PostgreSQL frozen for ten seconds", { isOutage: true }, async () => {
  signalAll(postgres.child, "SIGSTOP");
  await sleep(10_000);
  signalAll(postgres.child, "SIGCONT");
});
await phase("PostgreSQL restarted", { isOutage: true }, async () => {
  await stopDatabase(postgres);
  const { spawnfile, spawnargs } = postgres.child;
  spawnLeashed(spawnfile, spawnargs.slice(1), { ...postgresUser(), cwd: "/tmp", stdio: "ignore" });
  await eventually(async () => {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    await client.end();
  });
});
await phase("counter store away for a minute", {}, async () => {
  redis.child.kill("SIGSTOP");
  await sleep(60_000);
  redis.child.kill("SIGCONT");
});
await load.stop();
clearInterval(watching);

const twice = findMailsSentTwice();
holds &&= twice === 0;
const widths = rows[0]?.map((_, n) => Math.max(...rows.map((row) => (row[n] ?? "").length))) ?? [];
for (const row of rows) {
  process.stdout.write(
    `${row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join("  ")
      .trimEnd()}\n`,
  );
}
const seconds = Math.round((Date.now() - startedAtMs) / 1000);
process.stdout.write(
  `mails sent twice: ${twice} of ${accounts}; most connections at PostgreSQL: ${mostConnections}; took ${seconds} s\n`,
);
process.exit(holds ? 0 : 1);

function start(settings: Record<string, string>, folder: string): Promise<Service> {
  return Service.start(settings, { logTo: "file", folder });
}

/** Runs an operator's command of the build that the first instance is of. */
async function admin(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await first.execute(["dist/admin/main.js", ...args]);
  return code === 0 ? stdout : giveUp(`admin ${args.join(" ")}: ${stderr}`);
}

/** Adds an account, whose first mail the instances send at once. */
async function addAccount(): Promise<void> {
  await admin("account", "add", `${accounts++}@example.com`, "--plan", "licensed");
}

/** Stops and starts the instances one by one, of the build in this folder from then on; mails are due meanwhile. */
async function roll(folder: string): Promise<void> {
  for (const [n, instance] of instances.entries()) {
    await Promise.all([instance.stop(), addAccount(), addAccount()]);
    instances[n] = await start(instance.environment, folder);
    while ((await (instances[n] as Service).ask("/ready")).status !== 200) await sleep(200);
    await sleep(1500); // until the balancer has seen it
  }
}

/** What an instance has logged as an error, to tell why something does not hold. */
function readErrors({ dataDir }: Service, name: string): string {
  const errors = readFileSync(join(dataDir, "log"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"level":"error"'));
  return errors.map((line) => `${name}: ${line}\n`).join("");
}

/** A mail is a file named by its id, in the folder of the instance that sent it. */
function findMailsSentTwice(): number {
  const names = instances.flatMap(({ dataDir }) => readdirSync(join(dataDir, "mail")));
  return names.length - new Set(names).size;
}

/** Each of a database's processes has a group of its own. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  const children = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  for (const one of [String(pid), ...children.trim().split("\n")]) process.kill(Number(one), signal);
}

function giveUp(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
