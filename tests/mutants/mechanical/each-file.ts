import { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expect, inject } from "vitest";

/* Hands on which mistake is made, and where a test file's reached mistakes are noted, to every process that a test starts. */

const { REACHED_FOLDER } = process.env;
const mistake = inject("mistake");
const file = expect.getState().testPath ?? "";
if (REACHED_FOLDER)
  process.env.REACHED = join(REACHED_FOLDER, file.replace(`${process.cwd()}/`, "").replaceAll("/", "+"));
if (mistake !== undefined) process.env.MISTAKE = String(mistake);
const { MISTAKE, REACHED } = process.env;
const handed = Object.entries({ MISTAKE, REACHED }).flatMap(([name, value]) =>
  value ? `${name}=${value}` : [],
);
type Start = (this: ChildProcess, options: { envPairs: string[] }) => unknown;
const prototype = ChildProcess.prototype as unknown as { spawn: Start };
const { spawn } = prototype;
prototype.spawn = function (options) {
  options.envPairs.push(...handed);
  return spawn.call(this, options);
};
