import { existsSync, readFileSync } from "node:fs";

/*
 * Preloaded into a program: its clocks are ahead by the milliseconds in the file that TEST_CLOCK names. Timers are
 * unchanged.
 */
const { now } = Date;
const nowSinceStart = performance.now.bind(performance);
let lastAheadMs = 0;

/** A process may outlive the folder of its test for a moment: it then keeps the last time, so that it can end. */
function readAheadMs() {
  const { TEST_CLOCK: file } = process.env;
  if (!file) return 0;
  if (existsSync(file)) lastAheadMs = Number(readFileSync(file, "utf8"));
  return lastAheadMs;
}
Date.now = () => now() + readAheadMs();
performance.now = () => nowSinceStart() + readAheadMs();
globalThis.Date = new Proxy(Date, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length > 0 ? parameters : [target.now()], newTarget),
});
