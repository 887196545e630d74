import { openSync, readSync } from "node:fs";

/*
 * Preloaded into a program: its clocks are ahead by the milliseconds in the file that TEST_CLOCK names, or its date stands
 * still at the second number of the file. Timers are unchanged. The file is sixteen bytes that are written at once, and stays
 * open: a process may outlive its folder for a moment.
 */
const { now } = Date;
const nowSinceStart = performance.now.bind(performance);
/** The open files, by name: a command in the same process may have another one. */
const files = new Map();
const clock = new Float64Array(2);

function readClock() {
  const { TEST_CLOCK: name } = process.env;
  if (!name) return { aheadMs: 0, stoppedAtMs: 0 };
  if (!files.has(name)) files.set(name, openSync(name));
  readSync(files.get(name), clock, 0, clock.byteLength, 0);
  const [aheadMs, stoppedAtMs] = clock;
  return { aheadMs, stoppedAtMs };
}
Date.now = () => {
  const { aheadMs, stoppedAtMs } = readClock();
  return stoppedAtMs || now() + aheadMs;
};
performance.now = () => nowSinceStart() + readClock().aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length > 0 ? parameters : [target.now()], newTarget),
});
