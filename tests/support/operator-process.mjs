import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { SourceTextModule, SyntheticModule } from "node:vm";
import "./clock-ahead.mjs";

/*
 * An operator who stays at the terminal: runs the built commands one after the other, each from a fresh copy of the
 * program with an environment of its own, but reads and compiles it only once, which is what takes the time.
 * A line in is `{args, environment}`, a line out `{code, stdout, stderr}`.
 */
const program = "dist/admin/main.js";
const source = readFileSync(program, "utf8");
const module = {
  identifier: pathToFileURL(program).href,
  initializeImportMeta: (meta) => {
    meta.url = module.identifier;
  },
  importModuleDynamically: (name) => import(name),
};
const answer = process.stdout.write.bind(process.stdout);
process.setMaxListeners(0);

for await (const line of createInterface({ input: process.stdin })) {
  const { args, environment } = JSON.parse(line);
  answer(`${JSON.stringify(await run(args, environment))}\n`);
}

function run(args, environment) {
  const outcome = { code: 0, stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    process[stream].write = (text, done) => {
      outcome[stream] += text;
      if (done) queueMicrotask(done);
      return true;
    };
  }
  process.argv = ["node", "admin", ...args];
  process.env = environment;
  process.exitCode = undefined;
  // What `oncePerProcess` kept for the last command.
  delete globalThis[Symbol.for("corner-office")];
  return new Promise((resolve) => {
    process.exit = (code = process.exitCode ?? 0) => resolve({ ...outcome, code });
    loadFreshCopy().catch((failure) => resolve({ ...outcome, code: 1, stderr: String(failure) }));
  });
}

async function loadFreshCopy() {
  const copy = new SourceTextModule(source, module);
  module.cachedData ??= copy.createCachedData();
  await copy.link(async (name) => {
    const library = await import(name);
    const names = Object.keys(library);
    return new SyntheticModule(names, function () {
      for (const name of names) this.setExport(name, library[name]);
    });
  });
  await copy.evaluate();
}
