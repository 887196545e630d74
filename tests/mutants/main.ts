import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTree } from "@/tests/mutants/copy";
import { makeMechanicalMistakes } from "@/tests/mutants/mechanical/main";
import { type Mutant, mutants } from "@/tests/mutants/mutants";

/*
 * Mutation testing: makes one plausible mistake at a time in a copy of the service, and checks that a test fails.
 * `npm run mutants` runs all of the list, `npm run mutants -- quotas` those whose area, test, file or text contains the word.
 * `npm run mutants -- --mechanical` makes those that a machine finds.
 */

/** Files of which only the pages that Next serves show a mistake, so that a full build is needed. */
const inPages = ["lib/http/program-path.ts", "lib/auth/tokens/credential.ts"];

if (process.argv.includes("--mechanical"))
  process.exit((await makeMechanicalMistakes(process.argv.slice(2))) > 0 ? 1 : 0);
const [wanted = ""] = process.argv.slice(2);
const chosen = mutants.filter(({ area, test, file, mistake }) =>
  `${area}: ${mistake} (${file}, ${test})`.includes(wanted),
);
if (chosen.length === 0) throw new Error(`no mistake is named "${wanted}"`);
const copy = copyTree();
let lived = 0;
if (!pass([...new Set(chosen.map(({ test }) => test))]))
  throw new Error("the tests fail with no mistake made");
for (const mutant of chosen) {
  const noticed = isNoticed(mutant);
  if (!noticed) lived++;
  const { area, mistake, file } = mutant;
  process.stdout.write(`${noticed ? "noticed" : "LIVES  "}  ${area}: ${mistake} (${file})\n`);
}
process.stdout.write(`\n${chosen.length - lived} of ${chosen.length} noticed\n`);
process.exit(lived > 0 ? 1 : 0);

/** Makes the mistake, runs the test that should fail, and reverts it. Throws if the source text is not found. */
function isNoticed({ file, was, becomes, test }: Mutant): boolean {
  const path = join(copy, file);
  const whole = readFileSync(path, "utf8");
  const parts = whole.split(was);
  if (parts.length !== 2)
    throw new Error(`${file} has this ${parts.length - 1} times: mend the mutant\n${was}`);
  writeFileSync(path, parts.join(becomes));
  build(inPages.includes(file));
  const noticed = !pass([test]);
  writeFileSync(path, whole);
  return noticed;
}

function build(pages: boolean): void {
  if (!run("npm", "run", "-s", pages ? "build" : "bundle:programs"))
    throw new Error("it does not build any more");
}

function pass(tests: string[]): boolean {
  return run("npx", "vitest", "run", "--bail=1", "--reporter=dot", ...tests);
}

function run(program: string, ...parameters: string[]): boolean {
  return spawnSync(program, parameters, { cwd: copy, stdio: "ignore" }).status === 0;
}
