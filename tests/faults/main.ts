import { within } from "@/lib/process/deadline";
import { createDatabase, startPostgres } from "@/tests/support/databases";
import type { Experiment, Finding, World } from "./experiment";
import { greylisting } from "./greylisting";
import { mailsDue } from "./mails-due";
import { slowSmtp } from "./slow-smtp";

/*
 * Faults that are too large, too slow or too noisy for `npm test`, with figures: `npm run faults`, or some of them by
 * name, `npm run faults -- greylisting`. Exits 1 when something does not hold.
 */

const experiments: Experiment[] = [greylisting, ...mailsDue, slowSmtp];
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
let holds = true;
for (const { name, run } of chosen) {
  const see = (finding: Finding) => {
    holds &&= finding.holds;
    const { what, figure } = finding;
    process.stdout.write(`${finding.holds ? "✓" : "✗"} ${name.padEnd(20)} ${what}: ${figure}\n`);
  };
  await within(withinMs, run(see, world)).catch((failure: Error) =>
    see({ what: "the experiment itself", figure: failure.message, holds: false }),
  );
}
// What the experiments started ends with this process.
process.exit(holds ? 0 : 1);
