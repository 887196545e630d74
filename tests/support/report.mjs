import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

/* Reports times and results of a run of `tests/all.sh` from its notes. Exits 1 if anything failed. */

const [, , notes] = process.argv;

/** The tests of a step, each `{name, ms, passed, isLeftOut, why}`, from its runner's report. */
function testsOf(step) {
  const file = join(notes, `${step}.json`);
  if (!existsSync(file)) return [];
  const written = JSON.parse(readFileSync(file, "utf8"));
  if (written.testResults) return written.testResults.flatMap(fromVitest);
  if (written.suites) return written.suites.flatMap(fromPlaywright);
  return written;
}

function fromVitest({ name, status, message, assertionResults }) {
  const tests = assertionResults.map(({ fullName, duration = 0, status, failureMessages = [] }) => ({
    name: fullName,
    ms: duration,
    passed: status !== "failed",
    isLeftOut: status !== "passed" && status !== "failed",
    why: failureMessages.join("\n"),
  }));
  // A failure outside any test, for example in a teardown.
  const failedBesides = status === "failed" && tests.every(({ passed }) => passed);
  return failedBesides ? [...tests, { name, ms: 0, passed: false, why: message }] : tests;
}

function fromPlaywright({ specs = [], suites = [] }) {
  const runs = specs.flatMap(({ title, tests }) => tests.map((test) => ({ title, ...test })));
  const own = runs.map(({ title, status, results }) => ({
    name: title,
    ms: results.reduce((sum, { duration }) => sum + duration, 0),
    passed: status !== "unexpected",
    isLeftOut: status === "skipped",
    why: results.flatMap(({ errors }) => errors.map(({ message }) => message)).join("\n"),
  }));
  return [...own, ...suites.flatMap(fromPlaywright)];
}

/** Prints a failed test and the lines that explain it. */
function say({ name, why }) {
  const lines = stripVTControlCharacters(why ?? "").split("\n");
  const telling = lines.filter((line) => line !== "" && !line.includes("/node_modules/")).slice(0, 15);
  return [`  ${name}`, ...telling.map((line) => `    ${line}`)];
}

const tests = [];
const failedSteps = [];
const report = ["", "What each step took:"];
for (const line of readFileSync(join(notes, "steps"), "utf8").trim().split("\n")) {
  const [step, seconds, code] = line.split(" ");
  const own = testsOf(step);
  tests.push(...own);
  // A step that failed without a failed test counts as one.
  if (code !== "0" && own.every(({ passed }) => passed)) failedSteps.push(step);
  report.push(`${seconds.padStart(6)} s  ${step}${code === "0" ? "" : ", failed"}`);
}

report.push("", "The slowest tests:");
for (const { name, ms } of tests.toSorted((one, other) => other.ms - one.ms).slice(0, 10)) {
  report.push(`${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

const leftOut = tests.filter((test) => test.isLeftOut).map(({ name }) => name);
if (leftOut.length > 0) report.push("", "LEFT OUT:", ...leftOut.map((name) => `  ${name}`));

// CI has perhaps no git history: no other tests may be skipped there.
const isMissed = (name) => process.env.CI && !/works with the previous build/.test(name);
const passed = tests.filter((test) => test.passed && !test.isLeftOut).length;
const atFirst = tests.filter(({ passed, why }) => passed && why);
if (atFirst.length > 0) report.push("", "FAILED AT FIRST, and passed when asked again:");
for (const test of atFirst) report.push(...say(test));

const failed = [
  ...[...failedSteps, ...leftOut.filter(isMissed)].map((name) => ({ name, why: "" })),
  ...tests.filter((test) => !test.passed),
];
if (failed.length > 0) report.push("", "What failed:");
for (const test of failed) report.push(...say(test));
report.push("", `${passed} passed, ${failed.length} failed`, "");
process.stdout.write(report.join("\n"));
process.exitCode = failed.length > 0 ? 1 : 0;
