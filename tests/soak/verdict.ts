import { median } from "@/tests/support/timing";
import type { Minute } from "./minute";

/** How often something goes wrong. */
export const everyMinutes = 5;

/** Figures that must not grow by more than the noise: this factor and this much. */
const steady: { what: string; read: (row: Minute) => number; factor: number; more: number }[] = [
  { what: "memory in MB", read: ({ memory }) => memory, factor: 1.1, more: 10 },
  { what: "descriptors", read: ({ descriptors }) => descriptors, factor: 1, more: 10 },
  { what: "connections", read: ({ connections }) => connections, factor: 1, more: 2 },
  { what: "the store's log in MB", read: ({ writeAheadLog }) => writeAheadLog, factor: 2, more: 20 },
  { what: "health, p50 in ms", read: ({ health }) => health.p50, factor: 1.5, more: 2 },
  { what: "entitlement, p50 in ms", read: ({ entitlement }) => entitlement.p50, factor: 1.5, more: 2 },
];

/** Without a fault, and not the minute after one. */
const isQuiet = ({ minute }: Minute) => minute > 2 && minute % everyMinutes > 1;

/** The figures that grew from the quiet minutes of the first third to those of the last, and the remains of faults. */
export function judge(rows: Minute[], [firstHeap = 0, lastHeap = 0]: number[]): string[] {
  const third = Math.ceil(rows.length / 3);
  const early = rows.slice(0, third).filter(isQuiet);
  const late = rows.slice(-third).filter(isQuiet);
  const found: string[] = [];
  if (lastHeap > firstHeap * 1.05)
    found.push(`live heap in MB: ${firstHeap.toFixed(1)}, then ${lastHeap.toFixed(1)}`);
  for (const { what, read, factor, more } of steady) {
    const [was, is] = [median(early.map(read)), median(late.map(read))];
    if (is > was * factor + more) found.push(`${what}: ${was.toFixed(1)}, then ${is.toFixed(1)}`);
  }
  const usual = median(rows.filter(isQuiet).map(({ health }) => health.p50));
  for (const row of rows) {
    const { minute, health } = row;
    const isSecondAfterFault = minute > everyMinutes && minute % everyMinutes === 2;
    if (isSecondAfterFault && health.p50 > usual * 2 + 5)
      found.push(`minute ${minute}: health takes ${health.p50.toFixed(1)} ms, ${usual.toFixed(1)} in others`);
    if (isQuiet(row) && row.late > 0) {
      found.push(`minute ${minute}: ${row.late} refused without a fault: ${row.lateKinds.join(", ")}`);
    }
  }
  return found;
}
