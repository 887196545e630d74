import { setTimeout as sleep } from "node:timers/promises";

/** The number below which this share of all numbers lies. */
export function percentile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length * share)] ?? Number.NaN;
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);

/** How long some work takes, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const beganAtMs = performance.now();
  await work();
  return performance.now() - beganAtMs;
}

/** How long a request takes again and again, with pauses, while something else goes on. */
export async function timesDuring(
  other: Promise<unknown>,
  request: () => Promise<unknown>,
  pauseMs: number,
): Promise<number[]> {
  const tookMs: number[] = [];
  let isOver = false;
  const over = other.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    tookMs.push(await timeOf(request));
    await sleep(pauseMs);
  }
  await over;
  return tookMs;
}
