import { readdirSync, statSync } from "node:fs";
import type { Call } from "@/tests/support/calls";
import { memoryOf } from "@/tests/support/process-accounts";
import { median, percentile } from "@/tests/support/timing";
import type { World } from "./world";

/** The figures of one minute. Times are in milliseconds, sizes in megabytes. */
export type Minute = {
  minute: number;
  health: { p50: number; p99: number };
  entitlement: { p50: number; p99: number };
  good: number;
  late: number;
  /** The kinds of requests that were refused for now. */
  lateKinds: string[];
  wrong: number;
  /** Parts of one core. */
  processor: number;
  memory: number;
  descriptors: number;
  connections: number;
  store: number;
  writeAheadLog: number;
  log: number;
  fault: string;
};

const columns = [
  "minute",
  "health p50, p99",
  "entitlement p50, p99",
  "good, late, wrong",
  "core",
  "memory",
  "descriptors",
  "connections",
  "store, its log ",
  "log    ",
  "fault",
];

const inColumns = (cells: string[]) =>
  cells.map((cell, n) => cell.padEnd(columns[n]?.length ?? 0)).join("  ");

/** The line above those of {@link toLine}. */
export const head = inColumns(columns);

/** Reads what can be read at the end of a minute in which the service used so much processor time before. */
export async function readMinute(
  { service, store, logFile }: World,
  calls: Call[],
  { minute, fault, processor }: { minute: number; fault: string; processor: number },
): Promise<Minute> {
  const { pid } = service;
  const { store: size, log } = await store.sizes();
  const count = (outcome: Call["outcome"]) => calls.filter((call) => call.outcome === outcome).length;
  return {
    minute,
    fault,
    processor,
    health: latencies(calls, "/api/health"),
    entitlement: latencies(calls, "/api/entitlement"),
    good: count("good"),
    late: count("late"),
    lateKinds: [...new Set(calls.filter(({ outcome }) => outcome === "late").map(({ kind }) => kind))],
    wrong: count("wrong"),
    memory: memoryOf(pid).now,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    connections: await store.connections(),
    store: size,
    writeAheadLog: log,
    log: statSync(logFile).size / 1024 / 1024,
  };
}

export function toLine(row: Minute): string {
  const inMs = ({ p50, p99 }: Minute["health"]) => `${p50.toFixed(1)}, ${p99.toFixed(0)} ms`;
  return inColumns([
    String(row.minute),
    inMs(row.health),
    inMs(row.entitlement),
    `${row.good}, ${row.late}, ${row.wrong}`,
    row.processor.toFixed(2),
    `${row.memory} MB`,
    String(row.descriptors),
    String(row.connections),
    `${row.store.toFixed(1)}, ${row.writeAheadLog.toFixed(1)} MB`,
    `${row.log.toFixed(1)} MB`,
    row.fault,
  ]);
}

function latencies(calls: Call[], kind: string): Minute["health"] {
  const ms = calls.filter((call) => call.kind === kind && call.outcome === "good").map((call) => call.ms);
  return { p50: median(ms), p99: percentile(ms, 0.99) };
}
