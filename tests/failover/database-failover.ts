import { setTimeout as sleep } from "node:timers/promises";
import { Load } from "@/tests/fleet/load";
import { readLogs } from "@/tests/fleet/logs";
import { startApps, startCommands, startJoins, startSignIns } from "@/tests/support/callers";
import { Calls } from "@/tests/support/calls";
import { countConnectionsLeft } from "./connections-left";
import type { Office } from "./office";
import { type Fault, pauses } from "./pair";
import { browserOf, startPurchases } from "./purchases";
import { startReaders } from "./readers";

/** The columns of {@link failOver}'s row. */
export const databaseHead = [
  "run",
  "new primary after",
  "no write for",
  "no account read for",
  "last 503 after",
  "acknowledged",
  "lost",
  "wrong",
  "connections left",
  "none ready",
  "repeats",
];

/** How long the former primary stays as it is. */
const struckForMs = 60_000; // 1 minute
/** Of these there are always some to acknowledge. */
const steadyKinds = ["join", "sign-in", "purchase"] as const;
/** For so long, no account may be unread where no host accepts writes but one can be read. */
const maxUnreadMs = 10_000; // 10 seconds: Patroni restarts both servers
const maxLines = 30;

/** Strikes the primary under load, and tells what callers saw of it. `holds` where no promise was broken. */
export async function failOver(
  office: Office,
  fault: Fault,
  run: number,
): Promise<{ row: string[]; holds: boolean; isWhole: boolean }> {
  const { pair, inbox, service, owners, instances, countRepeats } = office;
  const calls = new Calls();
  const [owner] = owners.splice(
    owners.findIndex(({ kind }) => kind === "credits"),
    1,
  );
  if (!owner) throw new Error("there are too few owners");
  const findLost = [
    await startReaders(office, calls, run),
    await startSignIns(office, calls, 2, run),
    startJoins(office, calls, 10, run),
    startCommands(office, calls, 1 / 4, run),
    startPurchases(office, calls),
  ];
  await startApps(office, calls, 4, browserOf(service, owner));
  const load = new Load(
    office.balancerPort,
    ["/api/entitlement", "/api/credits/balance"],
    await office.token(),
  );
  await Promise.all([load.settle(), calls.settle(steadyKinds)]);

  const struckAtMs = Date.now();
  const { port, release, restore } = await pair.strike(fault);
  const movedAtMs = Date.now();
  await sleep(struckAtMs + struckForMs - movedAtMs);
  const left = port === undefined ? 0 : await countConnectionsLeft(port);
  await release();
  const isWhole = await restore();
  await Promise.all([load.settle(), calls.settle(steadyKinds)]);
  await Promise.all([load.stop(), calls.stop()]);
  const endedAtMs = Date.now();
  const lost = (await Promise.all(findLost.map((find) => find()))).flat();
  inbox.received.length = 0;

  const reads = load.samples.filter(({ atMs }) => atMs >= struckAtMs);
  const acknowledged = calls.made.filter(({ kind, outcome }) => kind !== "read" && outcome === "good");
  const late = calls.made.filter(({ outcome }) => outcome === "late");
  const wrong = [
    ...calls.wrong,
    ...reads
      .filter(({ status }) => status !== 200 && status !== 503)
      .map(({ path, status, said }) => `read: ${status} at ${path}: ${said}`),
  ];
  const refusedAtMs = [...reads.filter(({ status }) => status === 503), ...late].map(({ atMs }) => atMs);
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const gap = (timesMs: number[]) => longestGap(timesMs, struckAtMs, endedAtMs);
  const unreadMs = gap(reads.filter(({ status }) => status === 200).map(({ atMs }) => atMs));
  // The balancer's own 503: no instance was ready.
  const unready = reads.filter(({ status, by }) => status === 503 && by === undefined).length;
  for (const line of [...lost.map((what) => `lost: ${what}`), ...wrong.map((what) => `wrong: ${what}`)].slice(
    0,
    maxLines,
  ))
    process.stderr.write(`${fault} ${run}: ${line}\n`);
  if (wrong.length > 0) {
    const logged = readLogs(instances, struckAtMs, endedAtMs).filter((line) => line.includes('"error"'));
    for (const line of logged.slice(0, maxLines)) process.stderr.write(`${line.slice(0, 600)}\n`);
  }
  // Without a watchdog, and without synchronous replication, acknowledged writes may be lost, and with them sessions.
  const isPromised = pair.isSynchronous && fault !== "thaw";
  const isPause = pauses.some((pause) => pause === fault);
  const holds =
    left === 0 &&
    (!isPause || (unreadMs < maxUnreadMs && unready === 0)) &&
    (!isPromised || (lost.length === 0 && wrong.length === 0));
  return {
    holds,
    isWhole,
    row: [
      `${holds ? "✓" : "✗"} ${fault}`,
      seconds(movedAtMs - struckAtMs),
      seconds(gap(acknowledged.map(({ atMs }) => atMs))),
      seconds(unreadMs),
      seconds(Math.max(struckAtMs, ...refusedAtMs) - struckAtMs),
      ...[acknowledged.length, lost.length, wrong.length, left, unready, await countRepeats()].map(String),
    ],
  };
}

/** The longest time between two of these moments, within the bounds. */
function longestGap(timesMs: readonly number[], fromMs: number, untilMs: number): number {
  const within = timesMs.filter((atMs) => atMs > fromMs && atMs < untilMs).sort((one, other) => one - other);
  return [...within, untilMs].reduce(
    ({ longest, last }, atMs) => ({ longest: Math.max(longest, atMs - last), last: atMs }),
    { longest: 0, last: fromMs },
  ).longest;
}
