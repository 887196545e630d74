import { setTimeout as sleep } from "node:timers/promises";
import { median } from "@/tests/bench/load";
import { leaveOut } from "@/tests/fleet/leave-out";
import { isInstalled } from "@/tests/support/databases";
import { Calls } from "./calls";
import { faults } from "./faults";
import { head, type Minute, processorSeconds, readMinute, toLine } from "./minute";
import { countRows, findGrown, printRows } from "./tables";
import { startTraffic } from "./traffic";
import { type EngineName, engineNames, openWorld } from "./world";

/*
 * An hour of mixed load on each engine, with a fault every five minutes: `npm run soak`, `-- postgres 20` for one engine
 * and 20 minutes. Prints every minute, and exits 1 if something grows that is not data, or an answer was wrong.
 */

const chosen = process.argv.slice(2);
const minutes = Number(chosen.find((word) => /^\d+$/.test(word)) ?? 60);
const everyMinutes = 5;
const settleMs = 5000; // for what was sent last
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
  let used = processorSeconds(world);
  calls.take();
  for (let minute = 1; minute <= minutes; minute++) {
    const fault = minute % everyMinutes === 0 ? faults[minute / everyMinutes - 1] : undefined;
    await Promise.all([fault?.strike(world), sleep(60_000)]);
    const usedNow = processorSeconds(world);
    // A renderer that was replaced takes its time with it.
    const processor = Math.max(0, usedNow - used) / 60;
    used = usedNow;
    const row = await readMinute(world, calls.take(), { minute, fault: fault?.name ?? "", processor });
    rows.push(row);
    process.stdout.write(`${toLine(row)}\n`);
  }
  calls.stop();
  await sleep(settleMs);
  const after = await countRows(world);
  const found = [
    ...judge(rows),
    ...findGrown(before, after, calls),
    ...calls.wrong.slice(0, 30).map((words) => `wrong: ${words}`),
  ];
  printRows(before, after);
  for (const line of found) process.stdout.write(`✗ ${line}\n`);
  if (found.length === 0) process.stdout.write("✓ nothing grew that is not data, and no answer was wrong\n");
  await world.service.stop({ expectErrors: true });
  return found.length === 0;
}

/** What grew between the first and the last third, each without its faults and the minute after them. */
function judge(rows: Minute[]): string[] {
  const isQuiet = ({ minute }: Minute) => minute > 2 && minute % everyMinutes > 1;
  const third = Math.ceil(rows.length / 3);
  const [early, late] = [rows.slice(0, third), rows.slice(-third)].map((part) => part.filter(isQuiet)) as [
    Minute[],
    Minute[],
  ];
  const grown = (what: string, read: (row: Minute) => number, allowed: (early: number) => number) => {
    const [was, is] = [median(early.map(read)), median(late.map(read))];
    return is > allowed(was) ? [`${what}: ${was.toFixed(1)}, then ${is.toFixed(1)}`] : [];
  };
  const usual = median(rows.filter(isQuiet).map(({ health }) => health.p50));
  const lasting = rows.filter(
    ({ minute, health }) =>
      minute > everyMinutes && minute % everyMinutes === 2 && health.p50 > usual * 2 + 5,
  );
  const unexplained = rows.filter((row) => isQuiet(row) && row.late > 0);
  return [
    ...grown(
      "memory of the server in MB",
      ({ server }) => server,
      (was) => was * 1.1 + 10,
    ),
    ...grown(
      "memory of the renderer in MB",
      ({ renderer }) => renderer,
      (was) => was * 1.1 + 10,
    ),
    ...grown(
      "descriptors",
      ({ descriptors }) => descriptors,
      (was) => was + 10,
    ),
    ...grown(
      "connections",
      ({ connections }) => connections,
      (was) => was + 2,
    ),
    ...grown(
      "the store's log in MB",
      ({ writeAheadLog }) => writeAheadLog,
      (was) => was * 2 + 20,
    ),
    ...grown(
      "health, p50 in ms",
      ({ health }) => health.p50,
      (was) => was * 1.5 + 2,
    ),
    ...grown(
      "entitlement, p50 in ms",
      ({ entitlement }) => entitlement.p50,
      (was) => was * 1.5 + 2,
    ),
    ...lasting.map(
      ({ minute, health }) =>
        `minute ${minute}, after a fault: health takes ${health.p50.toFixed(1)} ms, ${usual.toFixed(1)} in others`,
    ),
    ...unexplained.map(({ minute, late }) => `minute ${minute}: ${late} refused without a fault`),
  ];
}
