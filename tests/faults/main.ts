import { withTimeout } from "@/lib/runtime/timeout";
import { createDatabase, startPostgres, startRedis } from "@/tests/support/databases";
import { clockSteps, clockStepsSignedIn } from "./clock-steps";
import { codesFlood } from "./codes-flood";
import { damagedStore } from "./damaged-store";
import type { Experiment, Finding, World } from "./experiment";
import { hugeAnswer } from "./huge-answer";
import { killedWriters } from "./killed-writers";
import { mailsDue } from "./mails-due";
import { erasures, millionRows } from "./million-rows";
import { operatorsAtOnce } from "./operators-at-once";
import { pipelinedFlood } from "./pipelined-flood";
import { slowSmtp } from "./slow-smtp";
import { tenthOfACore } from "./tenth-of-a-core";

/*
 * Faults that are too large, too slow or too noisy for a drill, with figures: `npm run faults`, or some by name,
 * `npm run faults -- slow-smtp`. Exits 1 if a requirement is not met.
 */

const experiments: Experiment[] = [
  ...mailsDue,
  slowSmtp,
  operatorsAtOnce,
  hugeAnswer,
  clockSteps,
  clockStepsSignedIn,
  killedWriters,
  millionRows,
  ...erasures,
  damagedStore,
  tenthOfACore,
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
