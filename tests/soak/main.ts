import { setTimeout as sleep } from "node:timers/promises";
import { leaveOut } from "@/tests/fleet/leave-out";
import { Calls } from "@/tests/support/calls";
import { isInstalled } from "@/tests/support/databases";
import { processorTimeOf } from "@/tests/support/process-accounts";
import { type EngineName, engineNames } from "@/tests/support/stores";
import { faults } from "./faults";
import { readLiveHeap } from "./heap";
import { head, type Minute, readMinute, toLine } from "./minute";
import { countRows, findGrown, printRows } from "./tables";
import { startTraffic } from "./traffic";
import { everyMinutes, judge } from "./verdict";
import { openWorld } from "./world";

/*
 * An hour of mixed load on each engine, with a fault every five minutes: `npm run soak`, `-- postgres 20` for one engine
 * and 20 minutes. Prints every minute, and exits 1 if something grows that is not data, or an answer was wrong.
 */

const chosen = process.argv.slice(2);
const minutes = Number(chosen.find((word) => /^\d+$/.test(word)) ?? 60);
const maxSaid = 10; // wrong answers of a minute
const named = engineNames.filter((name) => chosen.includes(name));
if (chosen.some((word) => !/^\d+$/.test(word) && !named.some((name) => name === word))) {
  process.stderr.write(`The engines are ${engineNames.join(" and ")}; a number is one of minutes\n`);
  process.exit(2);
}
if (!isInstalled("wrk")) leaveOut("soak", "wrk");

let holds = true;
for (const engine of named.length > 0 ? named : engineNames) holds = (await soak(engine)) && holds;
process.exit(holds ? 0 : 1);

async function soak(engine: EngineName): Promise<boolean> {
  const world = await openWorld(engine);
  const calls = new Calls();
  await startTraffic(world, calls);
  const before = await countRows(world);
  process.stdout.write(`${engine}\n${head}\n`);
  const rows: Minute[] = [];
  // From the half on, because the bounded caches of tokens and addresses fill until then.
  const heapMinutes = [Math.ceil(minutes / 2), minutes];
  const heaps: number[] = [];
  const { pid } = world.service;
  let [said, processorMicros] = [0, processorTimeOf(pid)];
  calls.take();
  for (let minute = 1; minute <= minutes; minute++) {
    const fault = minute % everyMinutes === 0 ? faults[minute / everyMinutes - 1] : undefined;
    await Promise.all([fault?.strike(world), sleep(60_000)]);
    const before = processorMicros;
    processorMicros = processorTimeOf(pid);
    const processor = (processorMicros - before) / 60e6;
    const row = await readMinute(world, calls.take(), { minute, fault: fault?.name ?? "", processor });
    rows.push(row);
    if (heapMinutes.includes(minute)) heaps.push(await readLiveHeap(world));
    process.stdout.write(`${toLine(row)}\n`);
    // At once, so that a run that is stopped has said them.
    for (const words of calls.wrong.slice(said, said + maxSaid)) process.stdout.write(`✗ wrong: ${words}\n`);
    said = calls.wrong.length;
  }
  await calls.stop();
  const after = await countRows(world);
  const found = [
    ...judge(rows, heaps),
    ...findGrown(before, after, calls),
    ...(calls.wrong.length > 0 ? [`${calls.wrong.length} wrong answers`] : []),
  ];
  printRows(before, after);
  process.stdout.write(`live heap: ${heaps.map((heap) => `${heap.toFixed(1)} MB`).join(", then ")}\n\n`);
  for (const line of found) process.stdout.write(`✗ ${line}\n`);
  if (found.length === 0) process.stdout.write("✓ nothing grew that is not data, and no answer was wrong\n");
  await world.service.stop({ expectErrors: true });
  return found.length === 0;
}
