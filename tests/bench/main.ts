import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/register/operations";
import { probes } from "@/lib/http/register/probes";
import {
  measureCosts,
  measureEntitlementCost,
  measureProofCost,
  measureRefreshCost,
  measureRefusalCost,
  measureRenderedPages,
  measureSignInCost,
} from "@/tests/bench/cost";
import { measureCredits } from "@/tests/bench/credits";
import { measureOffice } from "@/tests/bench/office";
import { measureOwners } from "@/tests/bench/owners";
import { measurePages } from "@/tests/bench/pages";
import { measureMemory, measureStrangers } from "@/tests/bench/strangers";
import { judge, printTable } from "@/tests/bench/verdict";
import { isInstalled } from "@/tests/support/databases";
import { memoryOf } from "@/tests/support/process-accounts";
import { type Environment, Service } from "@/tests/support/service";
import { createStore, type EngineName, engineNames, type OpenStore } from "@/tests/support/stores";
import { median } from "@/tests/support/timing";

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
  },
  entitlement: () => onEach(measureEntitlementCost),
  proofs: () => onEach(measureProofCost),
  refresh: () => onEach(measureRefreshCost),
  "sign-in": () => onEach(measureSignInCost),
  rendered: () => onEach(measureRenderedPages),
  strangers: measureStrangers,
  owners: () => onEachStore(measureOwners),
  memory: measureMemory,
  credits: () => onEachStore(measureCredits),
  office: () => onEachStore(measureOffice),
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

function onEach(measure: (service: Service, engine: EngineName) => Promise<void>): Promise<void> {
  return onEachStore((engine, { environment }) =>
    withService(environment, (service) => measure(service, engine)),
  );
}

async function onEachStore(measure: (engine: EngineName, store: OpenStore) => Promise<void>): Promise<void> {
  for (const engine of engineNames) await measure(engine, await createStore(engine));
}

/** The times to the first answer and to readiness, and the memory of the idle service. */
async function measureStart(): Promise<void> {
  const [answered, ready, idle]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < 5; round++) {
    const startedAtMs = performance.now();
    const service = await Service.start();
    await service.ask(operations.health.path);
    answered.push(performance.now() - startedAtMs);
    while ((await service.ask(probes.ready.path)).status !== 200) await sleep(5);
    ready.push(performance.now() - startedAtMs);
    await sleep(2000);
    idle.push(memoryOf(service.pid).now);
    await service.stop();
  }
  judge("start to first answer", median(answered), { most: 350 }, "ms");
  judge("start to ready", median(ready), { most: 500 }, "ms");
  judge("memory of the idle service", median(idle), { most: 120 }, "MB");
}
