import { openSync, writeSync } from "node:fs";

/* What a switched source asks while it runs: which mistake is on. It also notes which mistakes a test file could notice. */

const { MISTAKE, REACHED } = process.env;
const made = Number(MISTAKE ?? -1);
/** Opened once: a test may leave a process no other file. */
const reachedFile = REACHED ? openSync(REACHED, "a") : undefined;
const reached = new Set<number>();

/** Whether this mistake is the one that is made. */
export function on(id: number): boolean {
  if (reachedFile !== undefined && !reached.has(id)) {
    reached.add(id);
    writeSync(reachedFile, `${id}\n`);
  }
  return id === made;
}

/** What a method is called on, or with the mistake an object whose method returns that unchanged: the call is gone. */
export function without<T>(id: number, target: T, method: string): T {
  return on(id) ? ({ [method]: () => target } as T) : target;
}

/** What is awaited, or with the mistake nothing, so that what was begun goes on alone. */
export function awaited<T>(id: number, begun: T): T | undefined {
  return on(id) ? undefined : begun;
}
