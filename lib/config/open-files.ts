import { readFileSync } from "node:fs";

const enoughFiles = 1024;

/** Maximum open files of this process; infinite if the system does not report it. */
export function maxOpenFiles(): number {
  try {
    const [, files] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return files ? Number(files) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** What an operator should know of the limit of open files. */
export function warnOfFewFiles(): string[] {
  const max = maxOpenFiles();
  if (max >= enoughFiles) return [];
  return [`the limit of open files is ${max}: raise it (ulimit -n, LimitNOFILE) to ${enoughFiles} or more`];
}
