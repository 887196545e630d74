import { readFileSync } from "node:fs";

/*
 * Loaded before a program: somebody sets its wall clock, ahead by the milliseconds in the file that TEST_WALL_CLOCK
 * names. The clock that only goes on does so.
 */
const { now } = Date;
const aheadMs = () => Number(readFileSync(process.env.TEST_WALL_CLOCK ?? "", "utf8"));
Date.now = () => now() + aheadMs();
globalThis.Date = new Proxy(Date, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length > 0 ? parameters : [target.now()], newTarget),
});
