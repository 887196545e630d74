import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";

/*
 * What a test makes is gone when the process that runs the test is, even when that fails, hangs or is killed. A
 * shell in a group of its own holds the other end of a pipe: it is told what there is, and clears up once the pipe
 * closes.
 */
const clearUp = `
while read -r kind what; do
  if [ "$kind" = group ]; then groups="$groups -$what"; else set -- "$@" "$what"; fi
done
[ -z "$groups" ] || kill -s KILL -- $groups
rm -rf -- "$@"`;

let pipe: Writable | undefined;

function tell(kind: "group" | "folder", what: string | number): void {
  if (!pipe) {
    const shell = spawn("sh", ["-c", clearUp], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    shell.unref();
    (shell.stdin as unknown as { unref: () => void }).unref();
    pipe = shell.stdin;
    // Vitest's workers would outlive a Vitest that was killed.
    process.once("disconnect", () => process.exit());
  }
  pipe.write(`${kind} ${what}\n`);
}

/** Starts a program that, with all that it starts, ends no later than this process. */
export function spawnLeashed(
  program: string,
  parameters: string[],
  options: SpawnOptions = {},
): ChildProcess {
  const child = spawn(program, parameters, { ...options, detached: true });
  if (child.pid) tell("group", child.pid);
  return child;
}

/** Makes an empty folder that is gone when this process is. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "corner-office-"));
  tell("folder", folder);
  return folder;
}
