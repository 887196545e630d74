import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { constants, Script } from "node:vm";
import { buildSync } from "esbuild";
import "./clock-ahead.mjs";
import "./outside-fetch.mjs";

/*
 * Runs operator's commands in sequence, each with its own environment and none of what an earlier one kept. It loads our
 * modules and the libraries once, which takes most of the time. An input line is `{args, environment}`, an output line
 * `{code, stdout, stderr}`.
 */
const program = resolve("lib/admin/run-command.ts");
const { outputFiles } = buildSync({
  ...{ entryPoints: [program], bundle: true, packages: "external", write: false },
  ...{ platform: "node", target: "node24", format: "cjs" },
});
const evaluate = new Script(`(function (module, require) {${outputFiles[0].text}\n})`, {
  filename: program,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}).runInThisContext();
const require = createRequire(program);
// A command parses with a schema once: compiling it first is an eighth of a command's time.
require("zod").config({ jitless: true });
const module = { exports: {} };
evaluate(module, require);
const answer = process.stdout.write.bind(process.stdout);

for await (const line of createInterface({ input: process.stdin })) {
  const { args, environment } = JSON.parse(line);
  answer(`${JSON.stringify(await run(args, environment))}\n`);
}

async function run(args, environment) {
  const outcome = { code: 0, stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    process[stream].write = (text) => {
      outcome[stream] += text;
      return true;
    };
  }
  process.argv = ["node", "admin", ...args];
  process.env = environment;
  process.exitCode = undefined;
  // Clears the last command's `perProcess` values and exit listeners.
  globalThis[Symbol.for("corner-office")].values = new Map();
  process.removeAllListeners("exit");
  outcome.code = await module.exports.runCommand();
  return outcome;
}
