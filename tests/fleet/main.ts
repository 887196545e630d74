import { setTimeout as sleep } from "node:timers/promises";
import {
  createDatabase,
  eventually,
  isInstalled,
  postgresUser,
  queryOnce,
  signalPostgres,
  startPostgres,
  startRedis,
  stopDatabase,
} from "@/tests/support/databases";
import { buildEarlier } from "@/tests/support/earlier-build";
import { spawnLeashed } from "@/tests/support/leash";
import { startPgBouncer } from "@/tests/support/pgbouncer";
import { Service } from "@/tests/support/service";
import { messageIdOf } from "@/tests/support/smtp-inbox";
import { nameOf } from "./haproxy";
import { startInstances } from "./instances";
import { leaveOut } from "./leave-out";
import { Load } from "./load";
import { readLogs } from "./logs";
import { Phases } from "./phases";

/*
 * Three instances of the release before, behind haproxy, on PostgreSQL through PgBouncer and counters
 * in Redis, are upgraded, rolled back, killed and cut off from their stores, under load: `npm run fleet`, `-- a3eb379` for
 * another build to begin with. Exits 1 when something does not hold. Nothing that has to hold depends on the speed of the
 * machine; how long something took is only shown.
 */

for (const program of ["haproxy", "pgbouncer", "redis-server"]) {
  if (!isInstalled(program)) leaveOut("fleet", program);
}
const today = ".";
// In a copy without history the instances are restarted with the build that they have.
const [, , commit] = process.argv;
const before = buildEarlier({ whole: true, ...(commit && { commit }) }) ?? today;
const startedAtMs = Date.now();
const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
if (!postgres || !redis) leaveOut("fleet", "PostgreSQL");
const databaseUrl = await createDatabase(postgres.url);
const { balancerPort, inbox, instances } = await startInstances(
  {
    DATABASE_URL: await startPgBouncer(databaseUrl, { poolSize: 20 }),
    DATABASE_DIRECT_URL: databaseUrl,
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    DRAIN_SECONDS: "3",
  },
  before,
);
const [first] = instances as [Service, ...Service[]];
let accounts = 0;
await addAccount();
const { token } = JSON.parse(await admin("--json", "token", "0@example.com"));

const load = new Load(
  balancerPort,
  ["/api/entitlement", "/api/credits/balance", "/api/health", "/api/site-banner", "/docs", "/home"],
  token,
);
const phases = new Phases(load);
const explain = (fromMs: number, untilMs: number) => readLogs(instances, fromMs, untilMs);
setTimeout(() => {
  process.stdout.write(phases.report(explain).table);
  giveUp(`it took longer than ten minutes, at: ${load.phase}`);
}, 10 * 60_000).unref();

await Promise.all(instances.map((_, n) => load.reach(nameOf(n))));
await phases.run("nothing", {}, () => sleep(1000));
await phases.run("upgrade", {}, () => roll(today));
const countersLeftAtMs = Date.now();
redis.child.kill("SIGSTOP");
await phases.run("back to the release before, the counter store away", {}, () => roll(before));
await phases.run("upgrade again, the counter store away", {}, () => roll(today));
await phases.run("counter store back after a minute", {}, async () => {
  await sleep(countersLeftAtMs + 60_000 - Date.now());
  redis.child.kill("SIGCONT");
});
await phases.run("kill -9 of one", { mayLose: true }, async () => {
  await instances[2]?.kill();
  await load.settle();
  await instances[2]?.run();
  await load.reach(nameOf(2));
});
await phases.run("PostgreSQL frozen for ten seconds", { isOutage: true }, async () => {
  signalPostgres(postgres.child.pid, "SIGSTOP");
  await sleep(10_000);
  signalPostgres(postgres.child.pid, "SIGCONT");
});
await phases.run("PostgreSQL restarted", { isOutage: true }, async () => {
  await stopDatabase(postgres);
  const { spawnfile, spawnargs } = postgres.child;
  spawnLeashed(spawnfile, spawnargs.slice(1), { ...postgresUser(), cwd: "/tmp", stdio: "ignore" });
  await eventually(() => queryOnce(databaseUrl, "SELECT 1"));
});
await load.stop();

const { table, holds } = phases.report(explain);
const mails = inbox.received.map(messageIdOf);
const twice = mails.length - new Set(mails).size;
const isMailed = twice === 0 && mails.length === accounts;
const seconds = Math.round((Date.now() - startedAtMs) / 1000);
process.stdout.write(
  `${table}${isMailed ? "✓" : "✗"} ${mails.length} mails to ${accounts} accounts, ${twice} sent twice; took ${seconds} s\n`,
);
process.exit(holds && isMailed ? 0 : 1);

/** Runs an operator's command of the build that the first instance began with. */
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
    instances[n] = await Service.start(instance.environment, { logTo: "file", folder });
    await load.reach(nameOf(n));
  }
  while (inbox.received.length < accounts) await sleep(50);
}

function giveUp(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
