import { within } from "@/lib/process/deadline";
import { createDatabase, startPostgres } from "@/tests/support/databases";
import type { Experiment, Finding, World } from "./experiment";
import { greylisting } from "./greylisting";

/*
 * Faults that are too large, too slow or too noisy for `npm test`, with figures: `npm run faults`, or some of them by
 * name, `npm run faults -- greylisting`. Exits 1 when something does not hold.
 */

const experiments: Experiment[] = [greylisting];
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
const world: World = {
  async createDatabase() {
    postgres ??= startPostgres().then((started) => {
      if (!started) throw new Error("PostgreSQL is not installed");
      return started.url;
    });
    return createDatabase(await postgres);
  },
};

const chosen = experiments.filter(({ name }) => named.length === 0 || named.includes(name));
const findings: Finding[] = [];
for (const experiment of chosen) {
  for (const finding of await look(experiment)) {
    findings.push(finding);
    const { what, figure, holds } = finding;
    process.stdout.write(`${holds ? "✓" : "✗"} ${experiment.name.padEnd(20)} ${what}: ${figure}\n`);
  }
}
// What the experiments started ends with this process.
process.exit(findings.every(({ holds }) => holds) ? 0 : 1);

async function look(experiment: Experiment): Promise<Finding[]> {
  try {
    return await within(withinMs, experiment.run(world));
  } catch (failure) {
    return [{ what: "the experiment itself", figure: (failure as Error).message, holds: false }];
  }
}
