import { operations } from "@/lib/http/operations";
import {
  measureCosts,
  measureEntitlementCost,
  measureRefreshCost,
  measureRefusalCost,
  measureRenderedPages,
} from "@/tests/bench/cost";
import { median } from "@/tests/bench/load";
import { measureOffice } from "@/tests/bench/office";
import { measurePages } from "@/tests/bench/pages";
import { measureMemory, measureStrangers } from "@/tests/bench/strangers";
import { judge, printTable } from "@/tests/bench/verdict";
import {
  besideDatabaseUrl,
  createDatabase,
  isInstalled,
  startPostgres,
  stopDatabase,
} from "@/tests/support/databases";
import { type Environment, Service } from "@/tests/support/service";

/*
 * Measures the target figures at the default log level: CPU time per request as a ratio to bare `node:http`, measured
 * alternately, because the machine's speed drifts and the ratio does not; and how strangers' load affects others.
 * `-- <part>` selects one part.
 */

const parts: Record<string, () => Promise<void>> = {
  start: measureStart,
  cost: async () => {
    await withService({}, measureCosts);
    await withService({ RATE_LIMIT_HEALTH: "1" }, measureRefusalCost);
    await withService({}, (service) => measureEntitlementCost(service, "the embedded store", 4));
    await withService({}, (service) => measureRefreshCost(service, "the embedded store"));
    await measureOnPostgres();
    await withService({}, measureRenderedPages);
  },
  strangers: measureStrangers,
  memory: measureMemory,
  office: async () => {
    await measureOffice("embedded", {});
    await measureOfficeOnPostgres();
  },
  lighthouse: measurePages,
};

const [, , chosen] = process.argv;
for (const program of ["wrk", "h2load"]) {
  if (isInstalled(program)) continue;
  process.stderr.write(`${program} is missing: apt-get install wrk nghttp2-client\n`);
  process.exit(1);
}
for (const [name, measure] of Object.entries(parts)) if (!chosen || chosen === name) await measure();
printTable();
process.exit(); // open ports and the operator's process would keep this process alive

async function withService(environment: Environment, measure: (service: Service) => Promise<void>) {
  const service = await Service.start(
    { SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1", ...environment },
    { logTo: "file" },
  );
  await measure(service);
  await service.stop();
}

async function measureOnPostgres(): Promise<void> {
  const postgres = await startPostgres();
  if (!postgres) return;
  const databaseUrl = await createDatabase(postgres.url);
  const environment = { ...besideDatabaseUrl, DATABASE_URL: databaseUrl };
  await withService(environment, (service) => measureEntitlementCost(service, "PostgreSQL", 5));
  await withService(environment, (service) => measureRefreshCost(service, "PostgreSQL"));
  await stopDatabase(postgres);
}

async function measureOfficeOnPostgres(): Promise<void> {
  const postgres = await startPostgres();
  if (!postgres) return;
  const url = await createDatabase(postgres.url);
  await measureOffice("PostgreSQL", { ...besideDatabaseUrl, DATABASE_URL: url });
  await stopDatabase(postgres);
}

async function measureStart(): Promise<void> {
  const taken: number[] = [];
  for (let round = 0; round < 5; round++) {
    const startedAtMs = performance.now();
    const service = await Service.start();
    await service.ask(operations.health.path);
    taken.push(performance.now() - startedAtMs);
    await service.stop();
  }
  judge("start to first answer", median(taken), { most: 1500 }, "ms");
}
