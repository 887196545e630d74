import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { existsSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { oncePerWorker } from "@/tests/support/once-per-worker";

/*
 * Cleans up the processes and folders of a test when its file has ended, and also when the test process fails, hangs or
 * is killed. A shell in its own process group reads their names from a pipe, and cleans up when the pipe closes.
 */
const clearUp = `
while read -r kind what; do
  case $kind in
    group) groups="$groups-$what " ;;
    ended) case $groups in *"-$what "*) groups=\${groups%%"-$what "*}\${groups#*"-$what "} ;; esac ;;
    *) set -- "$@" "$what" ;;
  esac
done
[ -z "$groups" ] || kill -s KILL -- $groups
rm -rf -- "$@"`;

/** How long something made by a test exists: until its test file ends, or until the process does. */
export type Until = "file" | "process";

const pipes = oncePerWorker("pipes", () => {
  // Otherwise Vitest's workers would outlive a killed Vitest.
  process.once("disconnect", () => process.exit());
  return new Map<Until, Writable>();
});

function openPipe(): Writable {
  const shell = spawn("sh", ["-c", clearUp], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  shell.unref();
  (shell.stdin as unknown as { unref: () => void }).unref();
  return shell.stdin;
}

function tell(until: Until, kind: "group" | "folder", what: string | number): void {
  const pipe = pipes.get(until) ?? openPipe();
  pipes.set(until, pipe);
  pipe.write(`${kind} ${what}\n`);
}

/** Ends the processes and deletes the folders that a test file has left. */
export function endLeftovers(): void {
  pipes.get("file")?.end();
  pipes.delete("file");
}

/** Starts a program that ends, with its children, no later than this test file or this process. */
export function spawnLeashed(
  program: string,
  parameters: string[],
  options: SpawnOptions = {},
  until: Until = "file",
): ChildProcess {
  const child = spawn(program, parameters, { ...options, detached: true });
  const { pid } = child;
  if (!pid) return child;
  tell(until, "group", pid);
  child.once("exit", () => {
    // Minutes later, the system may give the number to another process.
    if (isGone(pid)) pipes.get(until)?.write(`ended ${pid}\n`);
  });
  return child;
}

/** Whether no process is left in a group. */
function isGone(group: number): boolean {
  try {
    return !process.kill(-group, 0);
  } catch {
    return true;
  }
}

/** An in-memory folder of Linux; a container's 64 MB are too small for all tests. */
const memory = "/dev/shm";
const hasMemory = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > 2 ** 30;

/** Like {@link createFolder}, but in memory if possible, so that commits do not wait for a disk. */
export function makeFolderInMemory(until: Until = "file"): string {
  return createFolder(until, hasMemory ? memory : tmpdir());
}

/** Makes an empty folder that is deleted when this test file or this process ends. */
export function createFolder(until: Until = "file", parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "corner-office-"));
  tell(until, "folder", folder);
  return folder;
}
