import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import "./clock-ahead.mjs";

/*
 * An operator who stays at the terminal: runs the built commands one after the other, each from a fresh copy of the
 * program with an environment of its own, but loads only once what the copies share, which is what takes the time.
 * A line in is `{args, environment}`, a line out `{code, stdout, stderr}`.
 */
const program = pathToFileURL("dist/admin/main.js").href;
const answer = process.stdout.write.bind(process.stdout);
process.setMaxListeners(0);

let count = 0;
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
    import(`${program}?${count++}`).catch((failure) =>
      resolve({ ...outcome, code: 1, stderr: String(failure) }),
    );
  });
}
