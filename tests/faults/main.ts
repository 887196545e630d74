import { withTimeout } from "@/lib/runtime/timeout";
import { createDatabase, startPostgres, startRedis } from "@/tests/support/databases";
import { clockSteps, clockStepsSignedIn } from "./clock-steps";
import { codesFlood } from "./codes-flood";
import { counterBurst } from "./counter-burst";
import { damagedStore } from "./damaged-store";
import type { Experiment, Finding, World } from "./experiment";
import { failover } from "./failover";
import { greylisting } from "./greylisting";
import { hugeAnswer } from "./huge-answer";
import { killedDatabase } from "./killed-database";
import { killedWriters } from "./killed-writers";
import { lockedStore } from "./locked-store";
import { lostAnswers } from "./lost-answers";
import { mailsDue } from "./mails-due";
import { erasures, millionRows } from "./million-rows";
import { neverReading } from "./never-reading";
import { operatorsAtOnce } from "./operators-at-once";
import { pipelinedFlood } from "./pipelined-flood";
import { slowSmtp } from "./slow-smtp";
import { stalledLog } from "./stalled-log";
import { stopUnderLoad } from "./stop-under-load";
import { storeTakenAway } from "./store-taken-away";
import { tenthOfACore } from "./tenth-of-a-core";

/*
 * Faults that are too large, too slow or too noisy for a drill, with figures: `npm run faults`, or some by name,
 * `npm run faults -- greylisting`. Exits 1 if a requirement is not met.
 */

const experiments: Experiment[] = [
  stalledLog,
  ...mailsDue,
  slowSmtp,
  greylisting,
  lockedStore,
  ...lostAnswers,
  operatorsAtOnce,
  counterBurst,
  hugeAnswer,
  clockSteps,
  clockStepsSignedIn,
  storeTakenAway,
  failover,
  killedDatabase,
  killedWriters,
  millionRows,
  ...erasures,
  damagedStore,
  stopUnderLoad,
  tenthOfACore,
  neverReading,
  pipelinedFlood,
  ...codesFlood,
];
const withinMs = 60_000; // 1 minute

const named = process.argv.slice(2);
const unknown = named.filter((name) => !experiments.some((experiment) => experiment.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no ${unknown.join(", ")}: ${experiments.map(({ name }) => name).join(", ")}\n`,
  );
  process.exit(2);
}

let postgres: Promise<string> | undefined;
let redis: Promise<number> | undefined;
const world: World = {
  async createDatabase() {
    postgres ??= startPostgres().then((started) => {
      if (!started) throw new Error("PostgreSQL is not installed");
      return started.url;
    });
    return createDatabase(await postgres);
  },
  async redisPort() {
    redis ??= startRedis().then((started) => {
      if (!started) throw new Error("Redis is not installed");
      return started.port;
    });
    return redis;
  },
};

const chosen = experiments.filter(({ name }) => named.length === 0 || named.includes(name));
let holds = true;
for (const { name, run } of chosen) {
  const see = (finding: Finding) => {
    holds &&= finding.holds;
    const { what, figure } = finding;
    process.stdout.write(`${finding.holds ? "✓" : "✗"} ${name.padEnd(20)} ${what}: ${figure}\n`);
  };
  await withTimeout(withinMs, run(see, world)).catch((failure: Error) =>
    see({ what: "the experiment itself", figure: failure.message, holds: false }),
  );
}
// Programs started by the experiments end with this process.
process.exit(holds ? 0 : 1);
