export const dayMs = 24 * 60 * 60 * 1000;
export const hourMs = 60 * 60 * 1000;

/** Units of time and their seconds, the largest first. */
export const units = [
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
  ["second", 1],
] as const;

/** A duration in the largest unit that divides it, for example `10 minutes` or `1 day`. */
export function describeSeconds(seconds: number): string {
  const [unit, size] = units.find(([, size]) => seconds % size === 0) ?? units[3];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** A number of seconds as such: `1 second`, `120 seconds`. */
export function inSeconds(seconds: number): string {
  return `${seconds} second${seconds === 1 ? "" : "s"}`;
}
