import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ, which Linux keeps at 100 for every program

/** The CPU time of a process and its live descendants, user and system, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const children = parentsOf();
  const total = (of: number): number =>
    ticksOf(of) + (children.get(of) ?? []).reduce((sum, child) => sum + total(child), 0);
  return (total(pid) / ticksPerSecond) * 1000;
}

/** The resident memory of a process, in MB. */
export function memoryMbOf(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) / 1024;
}

/** proc(5): after the name in brackets, the parent is the second field, user and system time the 12th and 13th. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function ticksOf(pid: number): number {
  const fields = statOf(pid);
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

function parentsOf(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    const parent = Number(statOf(pid)[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  return children;
}
