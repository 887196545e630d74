import { operations } from "@/lib/api/operations";
import { startBareNext, startBareNode } from "@/tests/bench/bare";
import { distinctAddresses, latenciesAt, load, median } from "@/tests/bench/load";
import { measurePages } from "@/tests/bench/pages";
import {
  besideDatabaseUrl,
  createDatabase,
  isInstalled,
  startPostgres,
  stopDatabase,
} from "@/tests/support/databases";
import { memoryOf } from "@/tests/support/process-accounts";
import { type Environment, Service } from "@/tests/support/service";

/*
 * The figures to reach, measured at the default log level and printed as ratios of one run: the machine's
 * speed drifts, the ratio of two servers measured in turn does not. `--soak` adds ten minutes of load.
 */

const { health, entitlement } = operations;
const unlimited = { RATE_LIMIT_HEALTH: "100000000" };
const toFile = { logTo: "file" } as const;
const rounds = 5;
const print = (line: string) => process.stdout.write(`${line}\n`);
const perSecond = (figure: number) => `${Math.round(figure).toLocaleString("en")} requests/s`;

for (const program of ["wrk", "h2load"]) {
  if (isInstalled(program)) continue;
  process.stderr.write(`${program} is missing: apt-get install wrk nghttp2-client\n`);
  process.exit(1);
}

await measureStart();
await measureHealth();
await measureEntitlement("the embedded store", {});
await measureEntitlementOnPostgres();
await measureMemory();
await measurePages(print);
if (process.argv.includes("--soak")) await soak();

async function measureStart(): Promise<void> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAtMs = performance.now();
    const service = await Service.start();
    await service.ask(health.path);
    taken.push(performance.now() - startedAtMs);
    await service.stop();
  }
  print(`start to first answer: ${Math.round(median(taken))} ms (goal: under 1,500)`);
}

async function measureHealth(): Promise<void> {
  const service = await Service.start(unlimited, toFile);
  const ours = `http://localhost:${service.port}${health.path}`;
  const [node, next] = [await startBareNode(), await startBareNext()];
  for (const [how, headers] of [
    ["keep-alive", {}],
    ["a connection a request", { Connection: "close" }],
  ] as const) {
    const figures = { ours: [] as number[], node: [] as number[], next: [] as number[] };
    for (let round = -1; round < rounds; round++) {
      const measured = {
        node: (await load(node.url, { headers })).perSecond,
        ours: (await load(ours, { headers })).perSecond,
        next: (await load(next.url, { headers })).perSecond,
      };
      // The first round warms up.
      if (round >= 0)
        for (const name of ["node", "ours", "next"] as const) figures[name].push(measured[name]);
    }
    const ratio = (other: number[]) =>
      median(figures.ours.map((figure, round) => figure / (other[round] ?? 0))).toFixed(2);
    print(`GET ${health.path}, ${how}: ${perSecond(median(figures.ours))}`);
    print(
      `  ${ratio(figures.node)} of bare node:http at ${perSecond(median(figures.node))} (goal: 0.5 with keep-alive)`,
    );
    print(
      `  ${ratio(figures.next)} of a bare Next route handler at ${perSecond(median(figures.next))} (goal: 8)`,
    );
    if (how === "keep-alive") await printLatencies(ours, median(figures.ours));
  }
  node.child.kill();
  next.child.kill();
  await service.stop();
}

async function printLatencies(
  url: string,
  peak: number,
  headers: Record<string, string> = {},
): Promise<void> {
  const { p50, p99, perSecond: reached } = await latenciesAt(url, peak * 0.7, headers);
  const rate = `${Math.round((100 * reached) / peak)} % of peak`;
  print(`  at ${rate}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms (goal: p99 under 10 at 70 %)`);
}

async function measureEntitlement(engine: string, environment: Environment): Promise<void> {
  const service = await Service.start({ SIGN_IN: "local", ...environment }, toFile);
  await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
  const headers = { Authorization: `Bearer ${await service.token("ceo@example.com")}` };
  const url = `http://localhost:${service.port}${entitlement.path}`;
  const figures: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { perSecond: figure, failed } = await load(url, { headers });
    if (failed > 0) throw new Error(`${failed} answers of ${entitlement.path} were not 200`);
    figures.push(figure);
  }
  print(
    `GET ${entitlement.path} with a bearer token on ${engine}: ${perSecond(median(figures))} (goal: 4,000, embedded)`,
  );
  await printLatencies(url, median(figures), headers);
  await service.stop();
}

async function measureEntitlementOnPostgres(): Promise<void> {
  const postgres = await startPostgres();
  if (!postgres) return;
  const databaseUrl = await createDatabase(postgres.url);
  await measureEntitlement("PostgreSQL", { ...besideDatabaseUrl, DATABASE_URL: databaseUrl });
  await stopDatabase(postgres);
}

async function measureMemory(): Promise<void> {
  const service = await Service.start({ TRUSTED_PROXY_HOPS: "1" }, toFile);
  const script = distinctAddresses(health.path);
  let sent = 0;
  while (sent < 1_000_000) {
    const { requests, failed } = await load(`http://localhost:${service.port}`, { script, from: sent });
    if (failed > 0) throw new Error(`${failed} of the addresses were refused`);
    sent += requests;
  }
  const { now, peak } = memoryOf(service.pid);
  print(
    `after ${sent.toLocaleString("en")} requests from as many addresses: ${now} MB, ${peak} MB at most (goal: under 400)`,
  );
  await service.stop();
}

async function soak(): Promise<void> {
  const service = await Service.start(unlimited, toFile);
  for (let minute = 1; minute <= 10; minute++) {
    const { perSecond: figure, failed } = await load(`http://localhost:${service.port}${health.path}`, {
      seconds: 60,
    });
    const { now, peak } = memoryOf(service.pid);
    print(`soak, minute ${minute}: ${perSecond(figure)}, ${failed} failed, ${now} MB, ${peak} MB at most`);
  }
  await service.stop();
}
