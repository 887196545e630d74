import { type ChildProcess, execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { spawnLeashed } from "@/tests/support/leash";
import { startPgBouncer } from "@/tests/support/pgbouncer";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { startHaproxy } from "./haproxy";
import { Load, type Sample } from "./load";

/*
 * Three instances behind haproxy, on PostgreSQL through PgBouncer and counters in Redis, are upgraded, taken back, killed
 * and cut off from their stores, under load: `npm run fleet`. Exits 1 when something does not hold. Two minutes.
 */

const paths = [
  "/api/entitlement",
  "/api/credits/balance",
  "/api/health",
  "/api/site-banner",
  "/docs",
  "/home",
];
const accounts = 40;
const startedAtMs = Date.now();
setTimeout(() => giveUp("it took longer than five minutes"), 5 * 60_000).unref();

for (const program of ["haproxy", "pgbouncer", "redis-server"]) {
  if (!isInstalled(program)) giveUp(`${program} is not installed`);
}
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
for (let n = 0; n < 3; n++) instances.push(await start(environment));
const [first] = instances as [Service, ...Service[]];
startHaproxy(
  balancerPort,
  instances.map(({ port }) => port),
);
for (let n = 0; n < accounts; n++)
  await first.adminJson("account", "add", `${n}@example.com`, "--plan", "licensed");
const token = await first.token("0@example.com");

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
const rows: string[][] = [["what", "asked", "failed", "lost", "503", "401", "last failure after"]];
let holds = true;

/** Makes something happen under load, and tells what became of the requests. */
async function phase(
  name: string,
  { mayLose = false, isOutage = false }: { mayLose?: boolean; isOutage?: boolean },
  happen: () => Promise<unknown>,
): Promise<void> {
  load.phase = name;
  await sleep(1000);
  await happen();
  const overAtMs = Date.now();
  await sleep(4000);
  load.phase = "";
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
  const good = wrong === 0 && signedOut === 0 && (mayLose || lost === 0) && lastMs < 3500;
  holds &&= good;
  if (!good) for (const instance of instances) process.stderr.write(readErrors(instance, name));
  rows.push([
    `${good ? "✓" : "✗"} ${name}`,
    ...[samples.length, wrong, lost, unavailable, signedOut].map(String),
    `${(lastMs / 1000).toFixed(1)} s`,
  ]);
}

await phase("nothing", {}, () => sleep(3000));
await phase("upgrade, with one more change of the schema", {}, () => roll(writeTomorrow()));
await phase("back to the build before", {}, () => roll("dist/front/main.js"));
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
await phase("counter store away for twenty seconds", {}, async () => {
  redis.child.kill("SIGSTOP");
  await sleep(20_000);
  redis.child.kill("SIGCONT");
});
await load.stop();
clearInterval(watching);

const twice = findMailsSentTwice();
holds &&= twice === 0;
const [head = [], ...others] = rows;
const widths = head.map((_, n) => Math.max(...rows.map((row) => (row[n] ?? "").length)));
for (const row of [head, ...others]) {
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

function start(settings: Record<string, string>): Promise<Service> {
  return Service.start(settings, { logTo: "file" });
}

/** Stops and starts the instances one by one, with this program from then on. */
async function roll(program: string): Promise<void> {
  for (const [n, instance] of instances.entries()) {
    await instance.stop();
    instances[n] = await Service.start(instance.environment, { program: [program], logTo: "file" });
    await eventually(async () => {
      if ((await (instances[n] as Service).ask("/ready")).status !== 200) throw new Error("not ready");
    });
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

/** Writes a build of tomorrow beside that of today: it changes the schema once more. */
function writeTomorrow(): string {
  const file = "dist/front/tomorrow.js";
  const today = readFileSync("dist/front/main.js", "utf8");
  const change = `"999-tomorrow": { async up(db) {
    await db.schema.alterTable("accounts").addColumn("shoe_size", "bigint").execute();
  } },`;
  const at = today.indexOf('"001-first-tables": {');
  if (at === -1) giveUp("the build's list of changes is not where it was");
  writeFileSync(file, today.slice(0, at) + change + today.slice(at));
  return file;
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
