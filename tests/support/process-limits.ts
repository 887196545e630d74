import { execFileSync } from "node:child_process";

/** Limits the files that a process writes: at 0, each of its writes fails as on a disk that has become read-only. */
export function limitFiles(pid: number, bytes: "0" | "unlimited"): void {
  execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
}

/** Limits the open files of a process. Those beyond stay open. */
export function limitOpenFiles(pid: number, count: number): void {
  execFileSync("prlimit", ["--pid", String(pid), `--nofile=${count}`]);
}
