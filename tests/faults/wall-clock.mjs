import { readFileSync } from "node:fs";

/*
 * Preloaded into a program: its wall clock is ahead by the milliseconds in the file that TEST_WALL_CLOCK names. The
 * monotonic clock is unchanged.
 */
const { now } = Date;
const aheadMs = () => Number(readFileSync(process.env.TEST_WALL_CLOCK ?? "", "utf8"));
Date.now = () => now() + aheadMs();
globalThis.Date = new Proxy(Date, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length > 0 ? parameters : [target.now()], newTarget),
});
