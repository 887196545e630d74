import { openSync, writeSync } from "node:fs";

/* What a switched source asks while it runs: which mistake is on. It also notes
 which mistakes a test file could notice: those whose place it reaches with a value that they change. */

const { MISTAKE, REACHED } = process.env;
const made = Number(MISTAKE ?? -1);
/** Opened once: a test may leave a process no other file. */
const reachedFile = REACHED ? openSync(REACHED, "a") : undefined;
const reached = new Set<number>();

/** Whether this mistake is the one that is made. */
export const isMade = (id: number): boolean => id === made;

/** Whether this mistake is the one that is made, where it changes what happens. */
export function on(id: number): boolean {
  if (reachedFile !== undefined && !reached.has(id)) {
    reached.add(id);
    writeSync(reachedFile, `${id}\n`);
  }
  return isMade(id);
}

/** The first operand of a condition, which the mistake makes true or false. */
export function turned<T>(id: number, becomes: boolean, value: T): T {
  if (Boolean(value) !== becomes) on(id);
  return value;
}

/** The last operand of a condition, which the mistake makes true or false: it may be the value of the whole. */
export function changed<T>(id: number, becomes: boolean, value: T): T {
  if (value !== becomes) on(id);
  return value;
}

/** What a comparison finds, or with the mistake another one. */
export function compared<T>(id: number, other: Compare<T>, right: Compare<T>, one: T, two: T): boolean {
  const found = right(one, two);
  return other(one, two) !== found && on(id) ? !found : found;
}

type Compare<T> = (one: T, two: T) => boolean;

/** What a method is called on, or with the mistake an object whose method returns that unchanged: the call is gone. */
export function without<T>(id: number, target: T, method: string): T {
  return on(id) ? ({ [method]: () => target } as T) : target;
}

/** What is awaited, or with the mistake nothing, so that what was begun goes on alone. */
export function awaited<T>(id: number, begun: T): T | undefined {
  return on(id) ? undefined : begun;
}
