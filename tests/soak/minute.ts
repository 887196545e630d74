import { readdirSync, statSync } from "node:fs";
import type { Call } from "@/tests/support/calls";
import { memoryOf } from "@/tests/support/process-accounts";
import { median, percentile } from "@/tests/support/timing";
import type { World } from "./world";

/** The figures of one minute. Times are in milliseconds, sizes in megabytes. */
export type Minute = Awaited<ReturnType<typeof readMinute>>;

const columns: [head: string, cell: (row: Minute) => string][] = [
  ["minute", ({ minute }) => String(minute)],
  ["health p50, p99", ({ health }) => inMs(health)],
  ["entitlement p50, p99", ({ entitlement }) => inMs(entitlement)],
  ["good, late, wrong", ({ good, late, wrong }) => `${good}, ${late}, ${wrong}`],
  ["core", ({ processor }) => processor.toFixed(2)],
  ["memory", ({ memory }) => `${memory} MB`],
  ["descriptors", ({ descriptors }) => String(descriptors)],
  ["connections", ({ connections }) => String(connections)],
  ["store, its log ", ({ store, writeAheadLog }) => `${store.toFixed(1)}, ${writeAheadLog.toFixed(1)} MB`],
  ["log    ", ({ log }) => `${log.toFixed(1)} MB`],
  ["fault", ({ fault }) => fault],
];

/** The line above those of {@link toLine}. */
export const head = columns.map(([head]) => head).join("  ");

export function toLine(row: Minute): string {
  return columns.map(([head, cell]) => cell(row).padEnd(head.length)).join("  ");
}

/**
 * Reads what can be read at the end of a minute.
 *
 * @param processor - how much the service used in it, in parts of one core
 */
export async function readMinute(
  { service, store, logFile }: World,
  calls: Call[],
  { minute, fault, processor }: { minute: number; fault: string; processor: number },
) {
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
    /** The kinds of requests that were refused for now. */
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

function inMs({ p50, p99 }: ReturnType<typeof latencies>): string {
  return `${p50.toFixed(1)}, ${p99.toFixed(0)} ms`;
}

function latencies(calls: Call[], kind: string) {
  const ms = calls.filter((call) => call.kind === kind && call.outcome === "good").map((call) => call.ms);
  return { p50: median(ms), p99: percentile(ms, 0.99) };
}
