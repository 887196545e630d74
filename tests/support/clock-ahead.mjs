import { openSync, readSync } from "node:fs";

/*
 * Preloaded into a program: its clocks are ahead by the milliseconds in the file that TEST_CLOCK names. Timers are
 * unchanged. The file is eight bytes that are written at once, and stays open: a process may outlive its folder for a moment.
 */
const { now } = Date;
const nowSinceStart = performance.now.bind(performance);
/** The open files, by name: a command in the same process may have another one. */
const files = new Map();
const ahead = new Float64Array(1);

function readAheadMs() {
  const { TEST_CLOCK: name } = process.env;
  if (!name) return 0;
  if (!files.has(name)) files.set(name, openSync(name));
  readSync(files.get(name), ahead, 0, 8, 0);
  return ahead[0];
}
Date.now = () => now() + readAheadMs();
performance.now = () => nowSinceStart() + readAheadMs();
globalThis.Date = new Proxy(Date, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length > 0 ? parameters : [target.now()], newTarget),
});
