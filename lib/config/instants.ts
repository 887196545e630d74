import { dayMs } from "@/lib/config/durations";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const units = [
  ["day", dayMs],
  ["hour", 60 * 60 * 1000],
  ["minute", 60 * 1000],
] as const;

/** Unix milliseconds as ISO 8601; `null` without a time. */
export function asIso(atMs: number | null | undefined): string | null {
  return atMs == null ? null : new Date(atMs).toISOString();
}

/** Formats a time for people, with its distance from now. */
export function asInstant(instant: string | null, nowMs: number): string | null {
  return instant === null ? null : `${instant} (${describeDistance(Date.parse(instant), nowMs)})`;
}

/** For example `in 3 days`, `1 minute ago` or `now`. */
export function describeDistance(atMs: number, nowMs: number): string {
  const distanceMs = atMs - nowMs;
  const [unit, unitMs] = units.find(([, ms]) => Math.abs(distanceMs) >= ms) ?? [];
  return unit ? relative.format(Math.round(distanceMs / unitMs), unit) : "now";
}
