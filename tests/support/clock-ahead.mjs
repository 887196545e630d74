import { readFileSync } from "node:fs";

/*
 * Preloaded into a program: its clocks are ahead by the milliseconds in the file that TEST_CLOCK names. Timers are
 * unchanged.
 */
const { now } = Date;
const nowSinceStart = performance.now.bind(performance);
const aheadMs = () => (process.env.TEST_CLOCK ? Number(readFileSync(process.env.TEST_CLOCK, "utf8")) : 0);
Date.now = () => now() + aheadMs();
performance.now = () => nowSinceStart() + aheadMs();
globalThis.Date = new Proxy(Date, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length > 0 ? parameters : [target.now()], newTarget),
});
