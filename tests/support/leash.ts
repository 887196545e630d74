import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { existsSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { oncePerWorker } from "@/tests/support/once-per-worker";

/*
 * What a test makes is gone when the file of the test is done, and when the process that runs it fails, hangs or is
 * killed. A shell in a group of its own holds the other end of a pipe: it is told what there is, and clears up once the
 * pipe closes.
 */
const clearUp = `
while read -r kind what; do
  if [ "$kind" = group ]; then groups="$groups -$what"; else set -- "$@" "$what"; fi
done
[ -z "$groups" ] || kill -s KILL -- $groups
rm -rf -- "$@"`;

/** What something made by a test outlasts: its file, or nothing but the process. */
export type Until = "file" | "process";

const pipes = oncePerWorker("pipes", () => {
  // Vitest's workers would outlive a Vitest that was killed.
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

/** Ends and deletes whatever the tests of a file have left. */
export function endLeftovers(): void {
  pipes.get("file")?.end();
  pipes.delete("file");
}

/** Starts a program that, with all that it starts, ends no later than the tests of this file, or than this process. */
export function spawnLeashed(
  program: string,
  parameters: string[],
  options: SpawnOptions = {},
  until: Until = "file",
): ChildProcess {
  const child = spawn(program, parameters, { ...options, detached: true });
  if (child.pid) tell(until, "group", child.pid);
  return child;
}

/** Linux keeps in memory what is in this folder; of a container's 64 MB there is too little for everybody. */
const memory = "/dev/shm";
const hasMemory = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > 2 ** 30;

/** Makes a folder as {@link createFolder} does, where no commit waits for a disk, if there is such a place. */
export function makeFolderInMemory(until: Until = "file"): string {
  return createFolder(until, hasMemory ? memory : tmpdir());
}

/** Makes an empty folder that is gone when the tests of this file are done, or when this process is. */
export function createFolder(until: Until = "file", withTimeout = tmpdir()): string {
  const folder = mkdtempSync(join(withTimeout, "corner-office-"));
  tell(until, "folder", folder);
  return folder;
}
