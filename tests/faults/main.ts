import { withTimeout } from "@/lib/runtime/timeout";
import { clockSteps } from "./clock-steps";
import { damagedStore } from "./damaged-store";
import type { Experiment, Finding } from "./experiment";
import { killedWriters } from "./killed-writers";
import { millionRows } from "./million-rows";
import { pipelinedFlood } from "./pipelined-flood";
import { tenthOfACore } from "./tenth-of-a-core";

/*
 * Faults that are too large, too slow or too noisy for a drill, with figures: `npm run faults`, or some by name,
 * `npm run faults -- clock-steps`. Exits 1 if a requirement is not met.
 */

const experiments: Experiment[] = [
  clockSteps,
  killedWriters,
  ...millionRows,
  damagedStore,
  tenthOfACore,
  pipelinedFlood,
];
const withinMs = 120_000; // 2 minutes

const named = process.argv.slice(2);
const unknown = named.filter((name) => !experiments.some((experiment) => experiment.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no ${unknown.join(", ")}: ${experiments.map(({ name }) => name).join(", ")}\n`,
  );
  process.exit(2);
}

const chosen = experiments.filter(({ name }) => named.length === 0 || named.includes(name));
let holds = true;
for (const { name, run } of chosen) {
  const see = (finding: Finding) => {
    holds &&= finding.holds;
    const { what, figure } = finding;
    process.stdout.write(`${finding.holds ? "✓" : "✗"} ${name.padEnd(20)} ${what}: ${figure}\n`);
  };
  await withTimeout(withinMs, run(see)).catch((failure: Error) =>
    see({ what: "the experiment itself", figure: failure.message, holds: false }),
  );
}
// Programs started by the experiments end with this process.
process.exit(holds ? 0 : 1);
